// Parses a compact JWS (RFC 7515 §7.1) without trusting its content. This needs no key, clock or network.
import { text } from '#limits.ts';
import { reject } from './reasons.ts';

export type ClaimSet = Readonly<Record<string, unknown>>;

export interface Parsed {
  /** The token as the client sent it. */
  jws: string;
  header: ClaimSet;
  claims: ClaimSet;
}

// The signature may be empty: an unsigned JWS is well-formed and is rejected later, for its algorithm.
const compact = /^([\w-]+)\.([\w-]+)\.[\w-]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Header and claims of a JWS of this type. @throws malformed, wrong type */
export function parseJws(jws: string, typ: string): Parsed {
  const [, head, body] = (jws.length <= text.assertion.max && compact.exec(jws)) || [];
  const header = membersOf(head);
  const claims = membersOf(body);
  if (!header || !claims) return reject('malformed', 'It is not a signed JWT in compact form.');
  // The type must match exactly, because a JWS signed for another purpose has another type (RFC 8725 §3.11).
  if (header.typ !== typ) return reject('wrong type', `typ: must be "${typ}".`);
  if ('crit' in header) return reject('wrong type', 'crit: extensions are not supported.');
  return { jws, header, claims };
}

function membersOf(part: string | undefined): ClaimSet | null {
  if (part === undefined) return null;
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(part, 'base64url')));
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as ClaimSet) : null;
  } catch {
    return null;
  }
}
