// Assigns numbers in the audit log. A change gets its number after its transaction has committed, while the counter of its organization is
// locked. Therefore a reader who has seen a number has seen all smaller ones, and writers do not wait for each other
// (docs/decisions/0061-the-database-records-changes.md).
import { now } from '#foundation/clock.ts';
import { announceSql } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf, snake } from '#foundation/postgres/reads.ts';
import {
  hasChanges,
  organizationsWithChangesSql,
  type RecordedChange,
  takeChangesSql,
} from '../../organization/audit-changes/changes.ts';
import { isFrozen } from '../../organization/cells/state.ts';
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { eventOf } from './changes.ts';
import { forEachOrganization } from './each-organization.ts';
import { AuditEvent, type PlainEvent } from './model.ts';
import { sealPersonal } from './personal.ts';
import { appendEvents } from './tree/growth.ts';
import { TreeChangedError } from './tree/tiles.ts';

/** Maximum number of changes to which one transaction assigns numbers. */
const batch = 500;

// Inserts nothing for an erased organization.
const createCounterSql = `insert into audit_counters (org_id) select o.id from (values ($1)) one (id) ${joinOrganizationSql('one.id')}
  where o.id is not null on conflict do nothing`;
const lockCounterSql = 'select last_number, last_at, tree_size from audit_counters where org_id = $1 for update';
/** Columns of a new event with the types of their values, in their order in the JSON array that carries an event. */
const eventColumns = {
  ...{
    occurredAt: 'bigint',
    action: 'text',
    actorType: 'text',
    actorId: 'text',
    onBehalfOf: 'text',
    credentialId: 'text',
  },
  ...{
    surface: 'text',
    operation: 'text',
    requestId: 'text',
    traceId: 'text',
    sourceAddress: 'text',
    projectId: 'text',
  },
  ...{ targetType: 'text', targetId: 'text', targetName: 'text', subjectId: 'text', changes: 'jsonb' },
} as const satisfies Record<Exclude<keyof PlainEvent, 'orgId'>, string>;
const eventMembers = Object.keys(eventColumns) as (keyof typeof eventColumns)[];
const valueSql = (name: keyof typeof eventColumns, i: number) =>
  name === 'changes' ? `event -> ${i}` : `(event ->> ${i})::${eventColumns[name]}`;
const insertSql = `insert into audit_events (org_id, number, created_at, ${eventMembers.map(snake).join(', ')})
  select $1, $2 + ordinality, $3, ${eventMembers.map(valueSql).join(', ')}
  from jsonb_array_elements($4) with ordinality events (event, ordinality) returning ${columnsOf(AuditEvent)}`;
const advanceSql = 'update audit_counters set last_number = $2, last_at = $3, tree_size = $4 where org_id = $1';

/** The id under which new events of an organization are announced to subscribers. */
export const logOf = (orgId: string): string => `audit ${orgId}`;

/** Assigns numbers in the audit log to all committed changes of the organization. */
export async function numberChanges(orgId: string): Promise<void> {
  if (await hasChanges(orgId)) await numberWaiting(orgId);
}

async function numberWaiting(orgId: string): Promise<void> {
  // Changes of an organization that is moving are numbered in the cell that serves it afterwards.
  if (await isFrozen(orgId)) return;
  for (let growsTree = true; ; ) {
    try {
      if ((await transaction((trx) => numberBatch(trx, orgId, growsTree))) < batch) return;
    } catch (error) {
      // A tree that another program has changed stops growing, but events still get numbers.
      if (!(growsTree && error instanceof TreeChangedError)) throw error;
      growsTree = false;
    }
  }
}

/**
 * Assigns numbers in the audit log to all committed changes of the organization, and to the changes that `trx` has made. Until `trx` ends, no
 * other transaction assigns numbers in the audit log of this organization.
 */
export async function numberChangesIn(
  trx: Transaction,
  orgId: string,
): Promise<{ lastNumber: number; lastAt: number }> {
  while ((await numberBatch(trx, orgId, false)) === batch);
  return (await sql<Counter>(lockCounterSql, [orgId], trx))[0]!;
}

interface Counter {
  lastNumber: number;
  lastAt: number;
  treeSize: number;
}

/**
 * Assigns numbers to one batch; returns the number of changes in it. @param growsTree Whether the events are also added to the tree,
 * provided that all earlier events are in it
 */
async function numberBatch(trx: Transaction, orgId: string, growsTree: boolean): Promise<number> {
  // The statements are sent together, but executed one after the other, and each statement sees what was committed before it began. The
  // changes are therefore read only after the counter is locked.
  const [, counters, taken] = await Promise.all([
    sql(createCounterSql, [orgId], trx),
    sql<Counter>(lockCounterSql, [orgId], trx),
    sql<RecordedChange>(takeChangesSql, [orgId, batch], trx),
  ]);
  const [counter] = counters;
  // If the organization was erased, its changes are removed without being logged.
  if (!counter) return taken.length;
  const { lastNumber, treeSize } = counter;
  // The time in the log never decreases, even if the clock was set back.
  const at = Math.max(now(), counter.lastAt);
  const found = taken.flatMap((change) => eventOf(orgId as AuditEvent['orgId'], change, at) ?? []);
  if (found.length === 0) return taken.length;
  const events = await sealPersonal(trx, found, { orgId, last: lastNumber, at });
  const stored = await sql<AuditEvent>(insertSql, [orgId, lastNumber, at, JSON.stringify(events.map(valuesOf))], trx);
  const end = lastNumber + events.length;
  const isInTree = growsTree && treeSize === lastNumber;
  if (isInTree) await appendEvents(trx, orgId, { size: treeSize, end, events: stored });
  await Promise.all([
    sql(advanceSql, [orgId, end, at, isInTree ? end : treeSize], trx),
    sql(announceSql, [logOf(orgId)], trx),
  ]);
  return taken.length;
}

const valuesOf = (event: PlainEvent): unknown[] => eventMembers.map((name) => event[name]);

/** Assigns numbers to the audit events that have none yet, in all organizations; called periodically. */
export const numberAllChanges = (): Promise<void> =>
  forEachOrganization(organizationsWithChangesSql, [], ({ orgId }) => numberWaiting(orgId));

/** SQL for the last number in the log of an organization. @param orgId SQL expression for the id of the organization */
export const lastNumberSql = (orgId: string): string =>
  `(select last_number from audit_counters where org_id = ${orgId})`;

/**
 * SQL condition: an event was added to the audit log of the organization after the time `since`.
 * @param orgId SQL expression for the id of the organization
 * @param since SQL expression for the time
 */
export const hasEventsSinceSql = (orgId: string, since: string): string =>
  `exists (select from audit_counters where org_id = ${orgId} and last_at > ${since})`;
