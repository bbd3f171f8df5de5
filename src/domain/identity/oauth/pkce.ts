// Proof Key for Code Exchange with S256 only (RFC 7636; RFC 9700 §2.1.1).
import { digest, sameBytes } from '#foundation/secrets/secrets.ts';

/** Whether the text is base64url of 32 bytes. */
export const isCodeChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Whether the verifier is well-formed (RFC 7636 §4.1) and its digest equals the challenge. */
export const isVerifierOf = (challenge: string, verifier: string): boolean =>
  /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) &&
  sameBytes(Buffer.from(digest(verifier).toString('base64url')), Buffer.from(challenge));
