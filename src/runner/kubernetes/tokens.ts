// Tokens of missions for the relay: each names the lease of its mission, expires, and is signed, so that every runner of the cluster can
// check it, even one that was started later.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { RunLease } from '../contract.ts';

export interface MissionIdentity extends RunLease {
  /** The id of the claim, which the runner in the pod repeats. */
  claimId: string;
}

const isSame = (given: Buffer, expected: Buffer): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

export type MissionTokens = ReturnType<typeof openTokens>;

/** Creates and reads tokens. @param secret The token of the service, which all runners of the cluster share. */
export function openTokens(secret: string) {
  const key = createHash('sha256').update(`missions of a cluster\n${secret}`).digest();
  const signatureOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    sign({ runId, leaseId, claimId }: MissionIdentity, expiresAt: number): string {
      const text = Buffer.from(JSON.stringify([runId, leaseId, claimId, expiresAt])).toString('base64url');
      return `${text}.${signatureOf(text).toString('base64url')}`;
    },
    /** Creates the token that all pods of a template have. A pod asks for its mission with this token. */
    signPods: (template: string): string => `${template}.${signatureOf(`pods of ${template}`).toString('base64url')}`,
    isOfPods(token: string): boolean {
      const [template = '', signature = ''] = token.split('.');
      return isSame(Buffer.from(signature, 'base64url'), signatureOf(`pods of ${template}`));
    },
    /** The mission of a token; null for a token that was not signed with this secret, or has expired. */
    read(token: string): MissionIdentity | null {
      const [text = '', signature = ''] = token.split('.');
      if (!isSame(Buffer.from(signature, 'base64url'), signatureOf(text))) return null;
      const [runId, leaseId, claimId, expiresAt] = JSON.parse(Buffer.from(text, 'base64url').toString());
      return Date.now() < expiresAt ? { runId, leaseId, claimId } : null;
    },
  };
}
