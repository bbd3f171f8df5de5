// Assigns numbers in the audit log. A change gets its number after its transaction has committed, while the counter of its organization is
// locked. A reader who has seen a number has therefore seen all smaller ones, and writers do not wait for each other
// (docs/decisions/0061-the-database-records-changes.md).
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { snake } from '#foundation/postgres/reads.ts';
import { hasChanges, organizationsWithChangesSql, takeChanges } from '../../organization/audit-changes/changes.ts';
import { isFrozen } from '../../organization/cells/state.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { eventOf } from './changes.ts';
import { forEachOrganization } from './each-organization.ts';
import type { PlainEvent } from './model.ts';
import { sealPersonal } from './personal.ts';

/** Maximum changes that one transaction assigns numbers to. */
const batch = 500;

const lockCounterSql = `insert into audit_counters (org_id) values ($1)
  on conflict (org_id) do update set last_number = audit_counters.last_number returning last_number, last_at`;
const insertSql = `insert into audit_events (org_id, number, created_at, occurred_at, action, actor_type, actor_id, on_behalf_of,
    credential_id, surface, operation, request_id, trace_id, source_address, project_id, target_type, target_id, target_name, subject_id, changes)
  select $1, $2 + ordinality, $3, e.occurred_at, e.action, e.actor_type, e.actor_id, e.on_behalf_of, e.credential_id, e.surface,
    e.operation, e.request_id, e.trace_id, e.source_address, e.project_id, e.target_type, e.target_id, e.target_name, e.subject_id, e.changes
  from jsonb_array_elements($4) with ordinality rows (value, ordinality), lateral jsonb_to_record(value) as e (
    occurred_at bigint, action text, actor_type text, actor_id text, on_behalf_of text, credential_id text, surface text, operation text,
    request_id text, trace_id text, source_address text, project_id text, target_type text, target_id text, target_name text, subject_id text,
    changes jsonb)`;
const advanceSql = 'update audit_counters set last_number = $2, last_at = $3 where org_id = $1';

/** The id under which new events of an organization are announced to its subscribers. */
export const logOf = (orgId: string): string => `audit ${orgId}`;

/** Numbers all committed changes of the organization. */
export async function numberChanges(orgId: string): Promise<void> {
  // Changes of an organization that is moving are numbered where it is served afterwards.
  if (!(await hasChanges(orgId)) || (await isFrozen(orgId))) return;
  while ((await transaction((trx) => numberBatch(trx, orgId))) === batch);
}

/** Numbers all committed changes of the organization and those of `trx`. Until it ends, no other transaction assigns numbers. */
export async function numberChangesIn(
  trx: Transaction,
  orgId: string,
): Promise<{ lastNumber: number; lastAt: number }> {
  while ((await numberBatch(trx, orgId)) === batch);
  return (await sql<{ lastNumber: number; lastAt: number }>(lockCounterSql, [orgId], trx))[0]!;
}

/** Assigns numbers to one batch; returns the number of changes in it. */
async function numberBatch(trx: Transaction, orgId: string): Promise<number> {
  const organization = await Organization.find({ id: orgId as Organization['id'] }, trx);
  // Changes of an erased organization are removed without being logged.
  if (!organization) return (await takeChanges(trx, orgId, batch)).length;
  const [counter] = await sql<{ lastNumber: number; lastAt: number }>(lockCounterSql, [orgId], trx);
  const taken = await takeChanges(trx, orgId, batch);
  // The time in the log never decreases, even if the clock was set back.
  const at = Math.max(now(), counter!.lastAt);
  const found = taken.flatMap((change) => eventOf(organization.id, change, at) ?? []);
  if (found.length === 0) return taken.length;
  const events = await sealPersonal(trx, found, { orgId, last: counter!.lastNumber, at });
  await sql(insertSql, [orgId, counter!.lastNumber, at, JSON.stringify(events.map(columnsOf))], trx);
  await sql(advanceSql, [orgId, counter!.lastNumber + events.length, at], trx);
  await announce(trx, logOf(orgId));
  return taken.length;
}

const columnsOf = (event: PlainEvent) =>
  Object.fromEntries(Object.entries(event).map(([name, value]) => [snake(name), value]));

/** Numbers the changes of all organizations; called periodically. */
export const numberAllChanges = (): Promise<void> =>
  forEachOrganization(organizationsWithChangesSql, [], ({ orgId }) => numberChanges(orgId));

/** SQL for the last number in the log of an organization. @param orgId SQL expression for the id of the organization */
export const lastNumberSql = (orgId: string): string =>
  `(select last_number from audit_counters where org_id = ${orgId})`;
