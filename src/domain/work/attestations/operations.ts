// Reads attestations. A commit whose statement is not signed yet has no attestation.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import type { Envelope } from '#foundation/merkle/envelope.ts';
import { Attestation } from './model.ts';

export type SignedAttestation = Attestation & { envelope: Envelope; keyId: string; signedAt: number };

export const isSigned = (one: Attestation): one is SignedAttestation => one.envelope !== null;

/** The attestation of a commit. @throws 404, also for a commit whose statement is not signed yet */
export async function findAttestation(caller: Caller, sha: string): Promise<SignedAttestation> {
  const found = await Attestation.get({ sha, ...withinReach(caller) });
  return isSigned(found) ? found : Attestation.refuse();
}

/** Maximum number of attestations of each run in a list of runs; the newest are returned. */
export const attestationsPerParent = 100;

/** For each of these runs, the newest attestations that the caller can reach, in the order of the commits. */
export async function attestationsOf(runIds: readonly string[], caller: Caller): Promise<SignedAttestation[]> {
  const reach = withinReach(caller);
  const newest = '"position" desc';
  const found = await Attestation.findNewestByKeys('runId', runIds, reach, attestationsPerParent, newest);
  return found.reverse().filter(isSigned);
}
