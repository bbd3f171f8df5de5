// Signs the statements (attestations) about the commits of a run, and signs them again when their content has changed.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { canonicalJson } from '#foundation/merkle/canonical-json.ts';
import { signEnvelope } from '#foundation/merkle/envelope.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Attestation } from '../../work/attestations/model.ts';
import { isSigned, type SignedAttestation } from '../../work/attestations/operations.ts';
import { storeEnvelope } from '../../work/attestations/record.ts';
import { lockHeldRun, lockRun } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import { type SigningKey, signingKey } from '../audit/tree/keys.ts';
import { openStatements, payloadType } from './statement.ts';

/** Signs the statements at the request of the runtime that holds the run. @throws 404, or 409 `lease_lost` */
export async function signHeldRun(
  caller: Caller,
  held: { runId: string; leaseId: string },
): Promise<{ data: SignedAttestation[] }> {
  const key = await signingKey();
  const data = await transaction(async (trx) => signCommits(trx, await lockHeldRun(trx, caller, held), key));
  return { data };
}

/** Background job that signs the statements of a run. */
export async function signRun({ runId }: { runId: string }): Promise<void> {
  const key = await signingKey();
  await transaction(async (trx) => {
    const run = await lockRun(trx, { id: runId });
    // An attestation is computed from the details of the run. If the details were deleted, the attestations stay as they are.
    if (run && run.kept === null) await signCommits(trx, run, key);
  });
}

const textOf = ({ envelope }: SignedAttestation): string => Buffer.from(envelope.payload, 'base64').toString();

async function signCommits(trx: Transaction, run: Run, key: SigningKey): Promise<SignedAttestation[]> {
  const commits = await Attestation.findAll({ runId: run.id }, trx);
  if (commits.length === 0) return [];
  const statement = await openStatements(trx, run, commits);
  const signed: SignedAttestation[] = [];
  for (const commit of commits) {
    if (isSigned(commit) && textOf(commit) === canonicalJson(statement(commit, commit.signedAt))) {
      signed.push(commit);
      continue;
    }
    const signedAt = now();
    const envelope = signEnvelope(payloadType, canonicalJson(statement(commit, signedAt)), key);
    signed.push(await storeEnvelope(trx, commit, { envelope, keyId: key.id, signedAt }));
  }
  return signed;
}
