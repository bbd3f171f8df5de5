// Stages effects: each is stored in place of a request to another system, until a person decides. A new effect replaces a waiting effect on
// the same external object.
import { createHash } from 'node:crypto';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { effectBounds } from './bounds.ts';
import { type EffectKind, type EffectPayloads, effectKinds, OutsideEffect } from './model.ts';

export interface CausingRun {
  id: Id<'run'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'>;
}

export interface NewEffect<K extends EffectKind> {
  kind: K;
  /** Identifies the object in the other system, such as a branch. */
  key: string;
  payload: EffectPayloads[K];
}

/** Digest of the parts that a person decides about. The artifact is excluded: the same commits may be in another artifact. */
export const digestOf = (payload: object): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...payload, artifactId: undefined }))
    .digest('hex');

const latestSql = `select digest, state from outside_effects where project_id = $1 and kind = $2 and key = $3
  and state not in ('staged', 'failed') order by updated_at desc, id desc limit 1`;
const countSql = `select count(*)::int as count from outside_effects where run_id = $1`;
const insertSql = `insert into outside_effects
    (id, org_id, project_id, run_id, kind, state, position, key, payload, digest, created_at, updated_at)
  values ($1, $2, $3, $4, $5, 'staged', $6, $7, $8, $9, $10, $10)
  on conflict (project_id, kind, key) where state in ('staged', 'failed') do update
    set run_id = excluded.run_id, payload = excluded.payload, digest = excluded.digest, state = 'staged', error = null,
      updated_at = excluded.updated_at
  returning id`;

/**
 * Stores an effect that waits. Returns the id of the effect; null when a person has already decided about the same effect.
 * @throws 409 when the run has the maximum number of effects
 */
export async function stageEffect<K extends EffectKind>(
  trx: Transaction,
  { id: runId, orgId, projectId }: CausingRun,
  { kind, key, payload }: NewEffect<K>,
): Promise<Id<'outsideEffect'> | null> {
  const digest = digestOf(payload);
  const [latest] = await sql<Pick<OutsideEffect, 'digest' | 'state'>>(latestSql, [projectId, kind, key], trx);
  if (latest?.digest === digest && (kind !== 'mcp_call' || latest.state === 'rejected')) return null;
  const [counted] = await sql<{ count: number }>(countSql, [runId], trx);
  if (counted!.count >= effectBounds.perRun)
    throw conflict(`The run has ${effectBounds.perRun} outside effects, which is the maximum.`);
  const position = effectKinds.indexOf(kind);
  const values = [
    newId('outsideEffect'),
    orgId,
    projectId,
    runId,
    kind,
    position,
    key,
    JSON.stringify(payload),
    digest,
  ];
  const [stored] = await sql<Pick<OutsideEffect, 'id'>>(insertSql, [...values, now()], trx);
  await announce(trx, runId);
  return stored!.id;
}

const rejectSql = `update outside_effects set state = 'rejected', decided_at = $2, updated_at = $2
  where run_id = any($1) and state in ('staged', 'failed') returning id, run_id, kind, payload`;

export type RejectedEffect = Pick<OutsideEffect, 'id' | 'runId' | 'kind' | 'payload'>;

/** Rejects all waiting effects of these runs, because the runs were canceled or not chosen. */
export async function rejectEffectsOf(trx: Transaction, runIds: readonly Id<'run'>[]): Promise<RejectedEffect[]> {
  if (runIds.length === 0) return [];
  const rejected = await sql<RejectedEffect>(rejectSql, [runIds, now()], trx);
  await announce(trx, ...new Set(rejected.map(({ runId }) => runId)));
  return rejected;
}

const unpushedSql = `select bool_or(state = 'committed') as pushed from outside_effects
  where project_id = $1 and kind = 'push' and payload ->> 'headSha' = $2`;

/** Whether a push of the commit waits for approval or was rejected, and no push of the commit was carried out. */
export async function isUnpushed(projectId: string, headSha: string): Promise<boolean> {
  const [found] = await sql<{ pushed: boolean | null }>(unpushedSql, [projectId, headSha]);
  return found!.pushed === false;
}

const pendingSql = `select from outside_effects where project_id = $1 and key = $2
  and (kind = 'push' and payload ->> 'headSha' = $3 and state <> 'committed'
    or kind = 'pull_request' and state not in ('committed', 'rejected')) limit 1`;

/**
 * Whether the source host lacks the change of the branch or its pull request. That is so while the push or the pull request waits for approval, and
 * after the push was rejected.
 */
export const isHeldBack = async ({ projectId, branch, headSha }: HandedOver): Promise<boolean> =>
  headSha !== null && (await sql(pendingSql, [projectId, branch, headSha])).length > 0;

interface HandedOver {
  projectId: string;
  branch: string | null;
  headSha: string | null;
}

const committedSql = `select distinct payload ->> 'headSha' as head from outside_effects
  where project_id = $1 and kind = 'push' and key = $2 and state = 'committed'`;

/** Commits that approved pushes have put on the branch. */
export const committedHeads = async (projectId: string, branch: string): Promise<string[]> =>
  (await sql<{ head: string }>(committedSql, [projectId, branch])).map(({ head }) => head);

/** Whether an effect on this object has been carried out. */
export const wasCommitted = async (
  trx: Transaction,
  projectId: string,
  kind: EffectKind,
  key: string,
): Promise<boolean> =>
  (await OutsideEffect.query(trx).select('id').findOne({ projectId, kind, key, state: 'committed' })) !== undefined;

/** Condition in SQL: the commit `head_sha` of the run with this alias is not at the source host, because its push waits or was rejected. */
export const isUnpushedSql = (
  run: string,
): string => `exists (select from outside_effects e where e.project_id = ${run}.project_id
  and e.kind = 'push' and e.key = ${run}.branch and e.payload ->> 'headSha' = ${run}.head_sha and e.state <> 'committed')`;

/** SQL condition: the run has an outside effect that is neither carried out nor rejected. @param run Alias of the table `runs` in the query */
export const hasOpenEffectsSql = (run: string): string =>
  `exists (select from outside_effects e where e.run_id = ${run}.id and e.state not in ('committed', 'rejected'))`;

/**
 * SQL for the runs of the organization `$1` with outside effects that wait for approval or have failed. For each run, it selects the number of these
 * effects, the time of the latest change of one of them, their errors, and whether one of them is a call of a tool.
 */
export const runsWithEffectsSql = `select e.run_id, count(*)::int as count, max(e.updated_at) as since,
    bool_or(e.kind = 'mcp_call') as has_call, string_agg(distinct e.error, E'\\n') as errors
  from outside_effects e where e.org_id = $1 and e.state in ('staged', 'failed') group by e.run_id`;
