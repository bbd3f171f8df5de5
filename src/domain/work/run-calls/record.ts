// Records the calls of runs as the leaves of their Merkle trees.
import { now } from '#foundation/clock.ts';
import { canonicalJson } from '#foundation/merkle/canonical-json.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Run } from '../runs/model.ts';
import type { CallKind, RunCall } from './model.ts';

/** Maximum number of calls of a run that are kept. Further calls are not in the run's tree, and the attestations of the run say so. */
export const callsPerRun = 50_000;

const insertSql = `insert into run_calls (org_id, run_id, number, project_id, key, kind, entry)
  select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6 from run_calls where org_id = $1 and run_id = $2
  having coalesce(max(number), 0) < ${callsPerRun} on conflict (org_id, run_id, key) do nothing`;

/**
 * Records a call of the run. The caller holds the lock on the run, which serializes its calls. @param key Identifies the report: a repeated
 * one changes nothing. @param facts JSON without undefined
 */
export async function addRunCall(
  trx: Transaction,
  { id, orgId, projectId }: Pick<Run, 'id' | 'orgId' | 'projectId'>,
  kind: CallKind,
  key: string,
  facts: object,
): Promise<void> {
  const entry = canonicalJson({ kind, at: now(), ...facts });
  await sql(insertSql, [orgId, id, projectId, `${kind} ${key}`, kind, entry], trx);
}

const callsSql = 'select kind, entry from run_calls where org_id = $1 and run_id = $2 order by number';

export const readCallsOf = (
  trx: Transaction,
  { id, orgId }: Pick<Run, 'id' | 'orgId'>,
): Promise<Pick<RunCall, 'kind' | 'entry'>[]> => sql(callsSql, [orgId, id], trx);
