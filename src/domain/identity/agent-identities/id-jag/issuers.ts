// The trust list: providers whose assertions about their users are accepted (docs/contract.md#id-jag), and their published keys
// (RFC 7517), which are cached in memory for ten minutes to a day. Nothing is fetched for an issuer that is not on the list.
import { createRemoteJWKSet, customFetch, errors, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { freshnessMs } from '#foundation/http/http-cache.ts';
import { fetchJson, OutboundError } from '#foundation/http/outbound.ts';
import type { TrustedIssuer } from '#foundation/http/trusted-issuers.ts';

const maxKeySetBytes = 64 * 1024;
/** How long keys are kept, whatever their `Cache-Control` says. */
const cacheMs = { min: minutes(10), max: hours(24) } as const;
/** After an unknown key id or a failure nothing is fetched for this long. */
const cooldownMs = seconds(30);

let trusted: ReadonlyMap<string, TrustedIssuer> = new Map();

/** Binds the trust list, at start, and drops all cached keys. */
export function bindTrustedIssuers(list: readonly TrustedIssuer[]): void {
  trusted = new Map(list.map((entry) => [entry.issuer, entry]));
  known.clear();
}

export const trustedIssuer = (issuer: unknown): TrustedIssuer | undefined =>
  typeof issuer === 'string' ? trusted.get(issuer) : undefined;

/**
 * The published keys of one provider. jose reads the set, finds a key in it, and shares one request among concurrent callers. What
 * jose cannot do is done here: the time from our clock and freshness from `cache-control`; the known keys of a provider that does
 * not respond stay valid for a day; a failed request, or one for an unknown key id, is not repeated within the cooldown.
 */
interface ProviderKeys {
  set: ReturnType<typeof createRemoteJWKSet>;
  cacheControl?: string | undefined;
  /** Epoch ms, as all times here. */
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
      // No automatic reload: `reload` is called here.
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
 * The key of a JWS. An unknown key id is looked up at the provider, which may have rotated its keys, once per cooldown, so that
 * invented key ids cause no traffic.
 * @throws jose's errors for no, or no fitting, key; OutboundError when the provider cannot be reached
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

/** Reloads the keys; when that fails, known ones remain usable for a day after they were fetched. */
async function refresh(keys: ProviderKeys): Promise<void> {
  const isUsable = keys.fetchedAt !== undefined && keys.fetchedAt + cacheMs.max > now();
  if (isOver(keys.failedAt)) await reload(keys).catch((error) => isUsable || Promise.reject(error));
  else if (!isUsable) throw new OutboundError('the last request for these keys has just failed');
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
