// Records the commits that a runtime reports together with the branch of its run, and has the commits attested.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Run } from '../runs/model.ts';
import { latestStepOf } from '../runs/steps.ts';
import { Attestation } from './model.ts';
import type { SignedAttestation } from './operations.ts';

/** Maximum number of commits per report: the newest of a branch. */
export const commitsPerReport = 200;
/** Maximum number of commits of a run that are attested. Further commits are not recorded, and the attestations of the run say so. */
export const commitsPerRun = 500;

export interface NewCommit {
  sha: string;
  tree: string;
}

const insertSql = `insert into attestations (org_id, sha, tree_sha, project_id, run_id, step_id, reporter_id, position, created_at)
  select $1, c.sha, c.tree, $2, $3, $4, $5, last.position + c.place, $6
  from (select sha, tree, row_number() over (order by place) as place
      from unnest($7::text[], $8::text[]) with ordinality reported (sha, tree, place)
      where not exists (select from attestations known where known.org_id = $1 and known.sha = reported.sha)) c,
    (select coalesce(max(position), 0) as position from attestations where run_id = $3) last
  where last.position + c.place <= ${commitsPerRun} on conflict do nothing`;

/** Records commits of the run, whose lock the caller holds. A commit belongs to the run that has reported it first. */
export async function recordCommits(
  trx: Transaction,
  { credentialId }: Caller,
  { id, orgId, projectId }: Run,
  commits: readonly NewCommit[],
): Promise<void> {
  const step = commits.length > 0 ? await latestStepOf(trx, id) : undefined;
  if (!step) return;
  const columns = [commits.map(({ sha }) => sha), commits.map(({ tree }) => tree)];
  await sql(insertSql, [orgId, projectId, id, step.id, credentialId, now(), ...columns], trx);
  await enqueue(trx, 'attest', { runId: id });
}

/** Replaces the signed statement about the commit. */
export async function storeEnvelope(
  trx: Transaction,
  commit: Attestation,
  signed: Pick<SignedAttestation, 'envelope' | 'keyId' | 'signedAt'>,
): Promise<SignedAttestation> {
  await Attestation.patch(trx, { orgId: commit.orgId, sha: commit.sha }, signed);
  return { ...commit, ...signed } as SignedAttestation;
}

/** SQL condition: a commit of the run has no signed statement yet. @param run Alias of a run */
export const isUnsignedSql = (run: string): string =>
  `exists (select from attestations a where a.run_id = ${run}.id and a.envelope is null)`;

const attestedSql = 'select distinct run_id from attestations where run_id = any($1)';

/** The runs among the given ones that have an attested commit. */
export const attestedRuns = async (trx: Transaction, runIds: readonly string[]): Promise<string[]> =>
  (await sql<{ runId: string }>(attestedSql, [runIds], trx)).map(({ runId }) => runId);
