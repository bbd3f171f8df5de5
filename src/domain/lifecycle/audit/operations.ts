// Reads the audit log: pages of events, newest first, and the names of the actors.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, withinProject } from '#access/reach.ts';
import { emptyPage, type ListOrder, type Page, packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { Registration } from '../../identity/agent-identities/model.ts';
import { clientsOfTokens } from '../../identity/oauth/access-tokens.ts';
import { DirectoryToken } from '../../identity/tokens/directory-tokens.ts';
import { ServiceToken } from '../../identity/tokens/service-tokens.ts';
import { Person } from '../../organization/people/model.ts';
import { namelessIn } from '../../organization/person-keys/erasures.ts';
import { AuditEvent } from './model.ts';
import { numberChanges } from './numbers.ts';
import { openPersonal, type PersonalState, withPersonal } from './personal.ts';

export interface EventFilter {
  actorId?: string | null | undefined;
  action?: string | null | undefined;
  targetType?: string | null | undefined;
  targetId?: string | null | undefined;
  projectId?: string | null | undefined;
  /** Range of the event's time in epoch milliseconds: the start is inclusive, the end exclusive. */
  occurredFrom?: number | null | undefined;
  occurredBefore?: number | null | undefined;
  /** Event number: only events with larger numbers are returned. */
  after?: number | null | undefined;
}

const conditions: Record<keyof EventFilter, (parameter: string) => string> = {
  actorId: (id) => `(actor_id = ${id} or on_behalf_of = ${id})`,
  // The condition on `target_type` follows from the action. It lets PostgreSQL use an index.
  action: (action) => `(action = ${action} and target_type = split_part(${action}, '.', 1))`,
  targetType: (type) => `target_type = ${type}`,
  targetId: (id) => `subject_id = ${id}`,
  projectId: (id) => `project_id = ${id}`,
  // No event was stored before it occurred (`occurred_at` <= `created_at`). The condition on `created_at` excludes no further events, but
  // lets PostgreSQL skip the partitions that end before the requested time.
  occurredFrom: (at) => `(occurred_at >= ${at} and created_at >= ${at})`,
  occurredBefore: (at) => `occurred_at < ${at}`,
  after: (number) => `number > ${number}`,
};

interface Request extends EventFilter {
  limit: number;
  cursor?: string | null | undefined;
  order?: ListOrder | null | undefined;
}

export interface OpenedEvent extends AuditEvent {
  personalValues: PersonalState;
  /** Erased people among the people that the event names. */
  nameless: ReadonlySet<string>;
}

/**
 * Returns a page of events, including every change that was committed before the call: changes without a number are numbered first. @throws
 * 400 for a cursor of another list, before any change is numbered
 */
export async function listEvents(caller: Caller, request: Request): Promise<Page<OpenedEvent>> {
  const orgId = ownOrganization(caller);
  const reach = withinProject(caller, request.projectId);
  if (!reach) return emptyPage;
  const { text, values, binding } = queryOf(orgId, { ...request, projectId: reach.projectId });
  await numberChanges(orgId);
  const rows = await sql<AuditEvent>(text, values);
  if (rows.length <= request.limit) return { data: await openEvents(orgId, rows), nextCursor: null };
  rows.pop();
  return { data: await openEvents(orgId, rows), nextCursor: packCursor(binding, rows.at(-1)!.number, 'n') };
}

async function openEvents(orgId: string, events: readonly AuditEvent[]): Promise<OpenedEvent[]> {
  const named = events.map(({ actorId, onBehalfOf, targetId }) =>
    [actorId, onBehalfOf, targetId].filter((id) => id?.startsWith('usr_')),
  );
  const [opened, isNameless] = await Promise.all([
    openPersonal(orgId, events),
    namelessIn(orgId, [...new Set(named.flat() as string[])]),
  ]);
  return events.map((event, i) => ({
    ...withPersonal(event, opened[i]!),
    personalValues: opened[i]!.state,
    nameless: new Set((named[i] as string[]).filter((id) => isNameless(id, event.number))),
  }));
}

function queryOf(orgId: string, { limit, cursor, order, ...filter }: Request) {
  const isOldestFirst = order === 'oldest';
  const named = (Object.keys(conditions) as (keyof EventFilter)[]).filter((name) => filter[name] != null);
  const values: unknown[] = [orgId, ...named.map((name) => filter[name])];
  const binding = `audit_events\n${JSON.stringify([named, values, isOldestFirst])}`;
  const where = ['org_id = $1', ...named.map((name, i) => conditions[name](`$${i + 2}`))];
  if (cursor != null) {
    const [number] = unpackCursor(binding, cursor);
    where.push(`number ${isOldestFirst ? '>' : '<'} $${values.push(number)}`);
  }
  const text = `${selectionOf(AuditEvent)} where ${where.join(' and ')}
    order by number ${isOldestFirst ? 'asc' : 'desc'} limit $${values.push(limit + 1)}`;
  return { text, values, binding };
}

export interface ActorName {
  id: string;
  name: string;
}

/** Names of the people and the other actors with these ids. An actor that no longer exists has no entry. */
export async function namesOfActors(ids: readonly string[]): Promise<ActorName[]> {
  const of = (prefix: string) => ids.filter((id) => id.startsWith(prefix));
  const found = await Promise.all([
    of('usr_').length > 0 ? Person.findByKeys('id', of('usr_')) : [],
    of('svc_').length > 0 ? ServiceToken.findByKeys('id', of('svc_')) : [],
    of('sct_').length > 0 ? DirectoryToken.findByKeys('id', of('sct_')) : [],
    of('act_').length > 0 ? clientsOfTokens(of('act_')) : [],
    of('reg_').length > 0 ? Registration.findByKeys('id', of('reg_')) : [],
  ]);
  return found.flat().flatMap((row) => {
    const name = 'agentName' in row ? row.agentName : row.name;
    return name ? [{ id: row.id, name }] : [];
  });
}
