// Reads the inbox of a caller: items on which the caller may act and that the person has not hidden.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import type { Scope } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { emptyPage, type Page, type PageRequest, readPageOf } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { isReviewedSql } from '../../execution/reviews/reviewed.ts';
import { eventItemsSql } from '../../work/inbound/inbox-sql.ts';
import { isFollowedSql } from '../../work/runs/followers.ts';
import {
  attemptItemsSql,
  effectItemsSql,
  failureItemsSql,
  limitItemsSql,
  reviewItemsSql,
  waitingItemsSql,
} from '../../work/runs/inbox-sql.ts';
import type { OpenQuestion } from '../../work/runs/needs.ts';
import type { InboxKind } from './model.ts';

export interface InboxItem {
  /** Id of the item: its kind and the id of the waiting record, such as `approval-run_…`. */
  id: string;
  kind: InboxKind;
  /** Whether a mission is blocked until a person acts. */
  isUrgent: boolean;
  /** When the wait began. If the same record waits again, its item has a later time. */
  since: number;
  projectId: Id<'project'> | null;
  /** The person responsible for the mission; null for an item without a responsible person. */
  userId: Id<'person'> | null;
  runId: Id<'run'> | null;
  deliveryId: Id<'inboundDelivery'> | null;
  hookId: Id<'inboundHook'> | null;
  title: string | null;
  detail: string | null;
  question: Omit<OpenQuestion, 'runId'> | null;
  /** When a snoozed item returns to the inbox of the person; null for an item that is not snoozed. */
  hiddenUntil: number | null;
  isDone: boolean;
}

export interface InboxFilter {
  /** Whether to read only items of missions that the caller's person started or follows, and items without a responsible person. */
  mine?: boolean | null | undefined;
  /** Whether to read the items that the person has hidden, instead of the visible ones. */
  hidden?: boolean | null | undefined;
}

/** The kinds of items, each with the scopes that a caller needs to act on them. */
const parts: readonly { scopes: readonly Scope[]; isOrgWide?: true; items: string }[] = [
  { scopes: ['missions:run'], items: waitingItemsSql },
  { scopes: ['missions:run'], items: failureItemsSql },
  { scopes: ['missions:run'], items: attemptItemsSql },
  { scopes: ['missions:run'], items: reviewItemsSql(isReviewedSql) },
  { scopes: ['missions:run'], items: effectItemsSql },
  { scopes: ['orchestrator:write'], isOrgWide: true, items: limitItemsSql(['cap', 'shared_budget']) },
  { scopes: ['billing:write'], isOrgWide: true, items: limitItemsSql(['credits']) },
  { scopes: ['integrations:write', 'missions:run'], isOrgWide: true, items: eventItemsSql },
];

/** Urgent items come first, then older ones. The order is expressed as one number, so that a cursor can name a position. */
const notUrgent = 10 ** 14;

/**
 * SQL for items of these kinds. It joins the marks (done or snoozed) of the person `$4`. If `$5` is true, it selects only the items of
 * this person, of nobody in particular, and of runs that this person follows. Calling code appends a condition on the items.
 */
const selectSql = (
  items: readonly string[],
): string => `select id, kind, is_urgent, since, project_id, user_id, run_id, delivery_id,
    hook_id, title, detail, question, hidden_until, is_done, created_at
  from (
    select i.id, i.kind, i.is_urgent, i.since, i.project_id, i.user_id, i.run_id, i.delivery_id, i.hook_id, i.title, i.detail, i.question,
      m.until as hidden_until, m.item_id is not null and m.until is null as is_done, m.item_id is not null as is_hidden,
      i.since + case when i.is_urgent then 0 else ${notUrgent}::bigint end as created_at
    from (${items.join(' union all ')}) i left join inbox_marks m
      on m.user_id = $4 and m.org_id = $1 and m.item_id = i.id and m.since >= i.since and (m.until is null or m.until > $3)
    where not $5::boolean or i.user_id is null or i.user_id = $4
      or ${isFollowedSql('i.run_id', '$4')}
  ) i where `;

interface Statement {
  select: string;
  values: unknown[];
}

/**
 * The first part of a query for the items that the caller's scopes allow; null when they allow none. Callers with the same kinds of items
 * share one text, so that few statements are prepared.
 */
function statementFor(caller: Caller, mine: boolean): Statement | null {
  const isOpen = ({ scopes, isOrgWide }: (typeof parts)[number]) =>
    scopes.every((scope) => caller.scopes.has(scope)) && !(isOrgWide && caller.projectId);
  const items = parts.filter(isOpen).map((part) => part.items);
  if (items.length === 0) return null;
  return { select: selectSql(items), values: [ownOrganization(caller), caller.projectId, now(), caller.userId, mine] };
}

type StoredItem = InboxItem & { createdAt: number };

/** The structured output of a planner. */
interface Plan {
  steps?: unknown;
}

/** The steps of a plan as lines; the text itself if it is not a plan with steps. */
function textOfPlan(output: string): string {
  try {
    const { steps } = JSON.parse(output) as Plan;
    if (Array.isArray(steps)) return steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
  } catch {}
  return output;
}

const withoutCreatedAt = ({ createdAt: _, ...item }: StoredItem): InboxItem =>
  item.kind === 'approval' && item.detail !== null ? { ...item, detail: textOfPlan(item.detail) } : item;

/** The items of the caller, urgent ones first, then the oldest. */
export async function readInbox(
  caller: Caller,
  { mine, hidden, ...page }: InboxFilter & Pick<PageRequest, 'limit' | 'cursor'>,
): Promise<Page<InboxItem>> {
  const statement = statementFor(caller, mine ?? false);
  if (!statement) return emptyPage;
  const { select, values } = statement;
  const binding = `inbox\n${JSON.stringify([values[0], values[1], values[3], mine ?? false, hidden ?? false])}`;
  const where = hidden ? 'is_hidden' : 'not is_hidden';
  const { data, nextCursor } = await readPageOf<StoredItem>(
    { binding, select, where, values },
    { ...page, order: 'oldest' },
  );
  return { data: data.map(withoutCreatedAt), nextCursor };
}

/** The item with this id, even if it is hidden; undefined when nothing waits under this id, or the caller is not allowed to act on it. */
export async function findItem(caller: Caller, itemId: string): Promise<InboxItem | undefined> {
  const statement = statementFor(caller, false);
  if (!statement) return undefined;
  const [found] = await sql<StoredItem>(`${statement.select}id = $6`, [...statement.values, itemId]);
  return found && withoutCreatedAt(found);
}

/** Maximum number of items that are counted. */
export const maxCounted = 100;

/** The number of items that the caller has not hidden, at most 100. */
export async function countInbox(caller: Caller, mine = false): Promise<number> {
  const statement = statementFor(caller, mine);
  if (!statement) return 0;
  const text = `select count(*) as count from (${statement.select}not is_hidden limit ${maxCounted}) i`;
  const [row] = await sql<{ count: number }>(text, statement.values);
  return row!.count;
}
