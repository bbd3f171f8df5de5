// Whom we trust: the providers whose word on their users counts (agent authentication §15.3), and their published keys (RFC 7517).
// Nothing is fetched for an issuer that is not on the list. Keys are kept in memory, from ten minutes to a day.
import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import { now } from '#foundation/clock.ts';
import { freshnessMs } from '#foundation/http-cache.ts';
import { fetchJson, OutboundError } from '#foundation/outbound.ts';
import { providerKeys } from '#limits.ts';

export interface TrustedIssuer {
  /** Compared as it is written. */
  issuer: string;
  displayName: string;
  /** Where its keys are; absent: at its `/.well-known/jwks.json`. */
  jwksUri?: string | undefined;
  /** The only clients it may speak for; absent: those whose id is an address of its own. */
  clientIds?: readonly string[] | undefined;
  /** Whether it may send security events; absent: it may. */
  maySendEvents?: boolean | undefined;
}

let trusted: ReadonlyMap<string, TrustedIssuer> = new Map();

/** Binds the trust list; called once at start. What is known of keys is forgotten. */
export function bindTrustedIssuers(list: readonly TrustedIssuer[]): void {
  trusted = new Map(list.map((entry) => [entry.issuer, entry]));
  known.clear();
}

export const trustedIssuer = (issuer: unknown): TrustedIssuer | undefined =>
  typeof issuer === 'string' ? trusted.get(issuer) : undefined;

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

interface KeySet {
  find: KeyFinder;
  fetchedAt: number;
  freshUntil: number;
}

interface Known {
  keys?: KeySet;
  /** When a key was last looked for that is not among them. */
  missedAt?: number;
  failedAt?: number;
  /** Whoever needs the keys meanwhile waits for the same answer. */
  underWay?: Promise<KeySet>;
}

const known = new Map<string, Known>();

const cooledDown = (at: number | undefined): boolean => at === undefined || at + providerKeys.cooldown <= now();

/**
 * The key of a JWS. A key that is not there is looked for once more at the provider, which may just have made it; after that not
 * for a while, so that made-up key ids cause no traffic.
 * @throws jose's errors for no, or no fitting, key; OutboundError when the provider can't be asked
 */
export async function keyOf(issuer: TrustedIssuer, header: JWSHeaderParameters, token: FlattenedJWSInput) {
  const address = issuer.jwksUri ?? `${issuer.issuer.replace(/\/$/, '')}/.well-known/jwks.json`;
  const entry = known.get(address) ?? {};
  known.set(address, entry);
  const keys = await presentKeys(entry, address);
  try {
    return await keys.find(header, token);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    // Fetched by another while this one was looking.
    if (entry.keys && entry.keys !== keys) return entry.keys.find(header, token);
    if (!entry.underWay && !cooledDown(entry.missedAt)) throw error;
    entry.missedAt = now();
    return (await fetchKeys(entry, address)).find(header, token);
  }
}

/** The keys that are known, fetched when they are not fresh; older ones, for a day at most, when the provider is away. */
async function presentKeys(entry: Known, address: string): Promise<KeySet> {
  const { keys } = entry;
  if (keys && keys.freshUntil > now()) return keys;
  const fallback = keys && keys.fetchedAt + providerKeys.kept.max > now() ? keys : null;
  if (!cooledDown(entry.failedAt)) {
    if (fallback) return fallback;
    throw new OutboundError(`${address} did not give any keys a moment ago`);
  }
  try {
    return await fetchKeys(entry, address);
  } catch (error) {
    if (fallback) return fallback;
    throw error;
  }
}

function fetchKeys(entry: Known, address: string): Promise<KeySet> {
  entry.underWay ??= askForKeys(address)
    .then(
      (keys) => {
        delete entry.failedAt;
        entry.keys = keys;
        return keys;
      },
      (error) => {
        entry.failedAt = now();
        throw error;
      },
    )
    .finally(() => delete entry.underWay);
  return entry.underWay;
}

async function askForKeys(address: string): Promise<KeySet> {
  const { status, headers, body } = await fetchJson(address, {
    maxBytes: providerKeys.bytes,
    timeoutMs: providerKeys.timeout,
    accept: 'application/jwk-set+json, application/json',
  });
  if (status !== 200) throw new OutboundError(`${address} answered ${status}`);
  const find = createLocalJWKSet(body as JSONWebKeySet);
  const fetchedAt = now();
  return { find, fetchedAt, freshUntil: fetchedAt + freshnessMs(headers['cache-control'], providerKeys.kept) };
}
