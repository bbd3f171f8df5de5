// Operations on preview environments: list, read, request destruction.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { lookUp, type Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { environmentGraceMs } from '#limits.ts';
import { Environment, type EnvironmentStatus, environmentMoves, statusesBefore } from './model.ts';

export interface EnvironmentFilter extends PageRequest {
  issueId?: string | null | undefined;
  projectId?: string | null | undefined;
  status?: EnvironmentStatus | null | undefined;
}

/** Environments, newest first, of the projects that the caller can reach. */
export async function listEnvironments(
  caller: Caller,
  { issueId, projectId, status, ...page }: EnvironmentFilter,
): Promise<Page<Environment>> {
  const reach = withinProject(caller, projectId);
  if (!reach) return emptyPage;
  const where = Object.assign({}, reach, { issueId: issueId ?? undefined, status: status ?? undefined });
  return Environment.page(where, page);
}

export const findEnvironment = (caller: Caller, environmentId: string): Promise<Environment> =>
  Environment.get({ id: environmentId, ...withinReach(caller) });

/**
 * Requests the destruction of an environment by its runtime, even of a failed one. An environment that is being destroyed, or is destroyed,
 * stays unchanged.
 */
export async function destroyEnvironment(
  caller: Caller,
  environmentId: string,
): Promise<{ ok: true; environmentId: string }> {
  const moved = await Environment.query()
    .where({ id: environmentId, ...withinReach(caller) })
    .whereIn('status', statusesBefore('destroying'))
    .patch({ status: 'destroying' });
  if (moved === 0) await findEnvironment(caller, environmentId);
  return { ok: true, environmentId };
}

/** Requests the destruction of all environments of the organization. */
export async function destroyAllEnvironments(trx: Transaction, orgId: Environment['orgId']): Promise<void> {
  await Environment.query(trx)
    .where({ orgId })
    .whereIn('status', ['provisioning', 'active'])
    .patch({ status: 'destroying' });
}

/** Registers an environment that is being created; a repeated call changes nothing. */
export async function insertEnvironment(
  trx: Transaction,
  environment: Omit<Environment, 'status' | 'createdAt' | 'destroyedAt'>,
): Promise<void> {
  await trx(Environment.tableName)
    .insert({ ...environment, status: 'provisioning', createdAt: now() })
    .onConflict()
    .ignore();
}

/** Changes the status; the same status again changes nothing. @throws 409 for a move that is not allowed */
export async function setEnvironmentStatus(
  filter: { id: string; orgId?: string },
  status: Exclude<EnvironmentStatus, 'provisioning'>,
): Promise<void> {
  const moved = await Environment.query()
    .where(filter)
    .whereIn('status', statusesBefore(status))
    .patch({ status, ...(status === 'destroyed' && { destroyedAt: now() }) });
  if (moved > 0) return;
  const { status: present } = await Environment.get(filter);
  if (present === status) return;
  const moves = environmentMoves[present].join(' or ') || 'none';
  throw conflict.field('status', `the environment is ${present}; allowed next: ${moves}`);
}

const liveEnvironmentsSql = `select id from environments
  where id = any($1::text[]) and status in ('provisioning', 'active') and ($2::text is null or org_id = $2)`;

/** The ids among the given ones whose environments the runtime must keep running. */
export async function liveEnvironments(
  { orgId }: Caller,
  ids: readonly string[],
  trx?: Transaction,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const live = await lookUp<{ id: string }>(liveEnvironmentsSql, [ids, orgId], trx, ids.length);
  return new Set(live.map(({ id }) => id));
}

/** Requests the destruction of expired environments. An environment that no runtime destroys in time is marked as failed. */
export async function expireEnvironments(): Promise<void> {
  const at = now();
  await Environment.query()
    .whereIn('status', ['provisioning', 'active'])
    .where('expiresAt', '<=', at)
    .patch({ status: 'destroying' });
  await Environment.query()
    .where({ status: 'destroying' })
    .where('expiresAt', '<=', at - environmentGraceMs)
    .patch({ status: 'failed' });
}
