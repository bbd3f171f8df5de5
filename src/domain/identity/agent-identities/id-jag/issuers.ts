// The trust list: providers whose assertions about their users are accepted (docs/contract.md#id-jag), and their published keys
// (RFC 7517), which are cached in memory for ten minutes to a day. Nothing is fetched for an issuer that is not on the list.
import { createRemoteJWKSet, customFetch, errors, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { freshnessMs } from '#foundation/http/http-cache.ts';
import { fetchJson, OutboundError } from '#foundation/http/outbound.ts';
import type { TrustedIssuer } from '#foundation/http/trusted-issuers.ts';

const maxKeySetBytes = 64 * 1024;
/** Minimum and maximum time for which keys are cached, regardless of their `Cache-Control`. */
const cacheMs = { min: minutes(10), max: hours(24) } as const;
/** After a key id was not found, or a request for keys has failed, the keys are not requested again for this time. */
const cooldownMs = seconds(30);

let trusted: ReadonlyMap<string, TrustedIssuer> = new Map();

/** Sets the trust list at startup, and drops all cached keys. */
export function bindTrustedIssuers(list: readonly TrustedIssuer[]): void {
  trusted = new Map(list.map((entry) => [entry.issuer, entry]));
  known.clear();
}

export const trustedIssuer = (issuer: unknown): TrustedIssuer | undefined =>
  typeof issuer === 'string' ? trusted.get(issuer) : undefined;

/**
 * The published keys of one provider. jose reads the set, finds a key in it, and shares one request among concurrent callers. This class
 * adds three things: the service's clock and the lifetime from `cache-control`; known keys stay valid for a day while the provider is
 * unreachable; and within the cooldown, neither a failed request nor a request for an unknown key id is repeated.
 */
interface ProviderKeys {
  set: ReturnType<typeof createRemoteJWKSet>;
  cacheControl?: string | undefined;
  /** When the keys were fetched; all times here are in epoch milliseconds. */
  fetchedAt?: number;
  freshUntil: number;
  failedAt?: number;
  /** When an unknown key id last caused a request. */
  searchedAt?: number;
}

const known = new Map<string, ProviderKeys>();

function keysAt(address: string): ProviderKeys {
  const keys: ProviderKeys = known.get(address) ?? {
    freshUntil: 0,
    set: createRemoteJWKSet(new URL(address), {
      // Disables jose's automatic reload: `reload` is called here.
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: Number.POSITIVE_INFINITY,
      [customFetch]: async () => {
        const { status, headers, body } = await fetchJson(address, {
          maxBytes: maxKeySetBytes,
          timeoutMs: seconds(5),
          accept: 'application/jwk-set+json, application/json',
        });
        if (status !== 200 || body === undefined)
          throw new OutboundError(`${address} returned no keys (status ${status})`);
        keys.cacheControl = headers['cache-control'];
        return Response.json(body);
      },
    }),
  };
  known.set(address, keys);
  return keys;
}

const isOver = (cooldownFrom: number | undefined): boolean =>
  cooldownFrom === undefined || cooldownFrom + cooldownMs <= now();

/**
 * The key of a JWS. The provider may have rotated its keys, so an unknown key id is looked up there, but only once per cooldown, so that
 * invented key ids cause little traffic.
 * @throws jose's errors when no key matches; OutboundError when the provider is unreachable
 */
export async function issuerKeyOf(issuer: TrustedIssuer, header: JWSHeaderParameters, token: FlattenedJWSInput) {
  const keys = keysAt(issuer.jwksUri ?? `${issuer.issuer.replace(/\/$/, '')}/.well-known/jwks.json`);
  if (keys.freshUntil <= now()) await refresh(keys);
  try {
    return await keys.set(header, token);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    if (keys.set.reloading || isOver(keys.searchedAt)) {
      keys.searchedAt = now();
      await reload(keys);
    }
    return keys.set(header, token);
  }
}

/** Reloads the keys; when that fails, known keys remain usable for a day after they were fetched. */
async function refresh(keys: ProviderKeys): Promise<void> {
  const isUsable = keys.fetchedAt !== undefined && keys.fetchedAt + cacheMs.max > now();
  if (isOver(keys.failedAt)) await reload(keys).catch((error) => isUsable || Promise.reject(error));
  else if (!isUsable) throw new OutboundError('the last request for these keys failed less than a minute ago');
}

async function reload(keys: ProviderKeys): Promise<void> {
  try {
    await keys.set.reload();
  } catch (error) {
    keys.failedAt = now();
    throw error;
  }
  delete keys.failedAt;
  keys.fetchedAt = now();
  keys.freshUntil = keys.fetchedAt + freshnessMs(keys.cacheControl, cacheMs);
}
