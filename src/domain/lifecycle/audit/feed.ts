// The events feed: changes of records in the order of the audit log, without their authors and values. Each page names the last event
// number that it read, so that the next page continues after it, even if the filter excluded every event.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, withinProject } from '#access/reach.ts';
import { baseUrl } from '#foundation/http/addresses.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import type { AuditEvent } from './model.ts';
import { numberChanges } from './numbers.ts';

export interface FeedEvent {
  version: 1;
  number: number;
  /** Resource and verb, such as `run.completed`. */
  type: string;
  occurredAt: number;
  projectId: string | null;
  /** The run to which the subject belongs, or the subject itself if it is a run; null for other records. */
  runId: string | null;
  subject: { type: string; id: string };
  /** API URL of the whole event in the audit log. */
  url: string;
}

export interface FeedPage {
  data: FeedEvent[];
  /** Last event number that the page has read; the next page continues after it. */
  lastNumber: number;
  /** Whether the log has events after `lastNumber`. */
  hasMore: boolean;
}

export interface FeedRequest {
  /** Types such as `run.completed`, or `run.*` for all types of one resource; an empty list means all types. */
  types: readonly string[];
  projectId?: string | undefined;
  /** Last event number that the reader has read; absent means that the feed begins at the present end of the log. */
  after?: number | undefined;
  limit: number;
}

/** Maximum range of event numbers that one page reads, which bounds the work for a filter that matches few events. */
const numbersPerPage = 10_000;

type Row = Pick<AuditEvent, 'occurredAt' | 'action' | 'projectId' | 'targetType' | 'targetId' | 'subjectId'> & {
  lastNumber: number;
  /** A page without events has one row, in which the event's columns are null. */
  number: number | null;
  readTo: number;
};

/** One statement reads both the end of the log and the events, so that no event between two statements is skipped. */
const feedSql = (where: string) => `with log as (
    select last_number, greatest(coalesce($2, last_number), coalesce(
      (select number from audit_events where org_id = $1 order by number limit 1) - 1, last_number)) as start
    from audit_counters where org_id = $1)
  select l.last_number, least(l.start + ${numbersPerPage}, l.last_number) as read_to,
    e.number, e.occurred_at, e.action, e.project_id, e.target_type, e.target_id, e.subject_id
  from log l left join lateral (
    select number, occurred_at, action, project_id, target_type, target_id, subject_id from audit_events
    where org_id = $1 and number > l.start and number <= l.start + ${numbersPerPage}${where}
    order by number limit $3) e on true
  order by e.number`;

/**
 * Reads a page of the feed, including every change that was committed before the call. @throws 400 for a number beyond the end of the log
 */
export async function readFeed(caller: Caller, { projectId, ...request }: FeedRequest): Promise<FeedPage> {
  const orgId = ownOrganization(caller);
  const reach = withinProject(caller, projectId);
  // If the credential has no access to the project, the caller reads pages without events. `lastNumber` on these pages still grows with the
  // log.
  const projectIds = reach ? reach.projectId && [reach.projectId] : [];
  await numberChanges(orgId);
  const { end, ...page } = await readEventsAfter(orgId, { ...request, projectIds });
  const { after } = request;
  if (after !== undefined && after > end)
    throw invalid.field('after', `must be at most ${end}, the last number of the log`);
  return page;
}

interface LogRequest extends Omit<FeedRequest, 'projectId'> {
  /** Projects whose events are read; absent means all events of the organization. */
  projectIds?: readonly string[] | undefined;
}

/** Reads numbered events, and the last number of the whole log. */
export async function readEventsAfter(
  orgId: string,
  { after, types, projectIds, limit }: LogRequest,
  trx?: Transaction,
): Promise<FeedPage & { end: number }> {
  const values: unknown[] = [orgId, after ?? null, limit];
  let where = '';
  if (types.length > 0) {
    const nouns = types.flatMap((type) => (type.endsWith('.*') ? [type.slice(0, -2)] : []));
    where += ` and (action = any($${values.push(types)}) or target_type = any($${values.push(nouns)}))`;
  }
  if (projectIds) where += ` and project_id = any($${values.push(projectIds)})`;
  const rows = await sql<Row>(feedSql(where), values, trx);
  const end = rows[0]?.lastNumber ?? 0;
  const data = rows.flatMap((row) => (row.number === null ? [] : [eventOf(row, row.number)]));
  const lastNumber = data.length === limit ? data.at(-1)!.number : (rows[0]?.readTo ?? 0);
  return { data, lastNumber, hasMore: lastNumber < end, end };
}

const eventOf = (
  { action, occurredAt, projectId, targetType, targetId, subjectId }: Row,
  number: number,
): FeedEvent => ({
  version: 1,
  number,
  type: action,
  occurredAt,
  projectId,
  runId: targetType === 'run' || subjectId !== targetId ? subjectId : null,
  subject: { type: targetType, id: targetId },
  url: `${baseUrl()}/audit-events?after=${number - 1}&order=oldest&limit=1`,
});
