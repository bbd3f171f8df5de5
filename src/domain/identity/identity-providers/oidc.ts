// A sign-in at an OpenID provider of an organization (OpenID Connect Core §3.1: authorization code flow with PKCE, state and nonce). All
// requests go through outbound.ts, because an organization chooses the URLs. Loaded at the first sign-in.
import { decodeProtectedHeader } from 'jose';
import type { Configuration } from 'openid-client';
import { now, seconds } from '#foundation/clock.ts';
import {
  discoverProvider,
  exchangeCode,
  type SignInBinding,
  signInAddress,
  userClaims,
} from '#foundation/http/openid.ts';
import { boundedFetch } from '#foundation/http/outbound-fetch.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { providerAnswer } from './bounds.ts';
import type { IdentityProvider } from './model.ts';
import { returnAddressOf, secretContext } from './operations.ts';
import { type ProviderUser, rejectAnswer } from './users.ts';

/** The accepted algorithms sign with private keys: neither `none` nor a shared secret is accepted. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The provider, with its sealed client secret. */
export type SealedProvider = IdentityProvider & { sealedSecret: string | null };

const boundedRequests = (address: string, init: object): Promise<Response> =>
  boundedFetch({
    maxBytes: providerAnswer.bytes,
    signal: AbortSignal.timeout(providerAnswer.timeoutMs),
    mayReach: () => true,
  })(address, init as RequestInit);

interface Known {
  config: Promise<Configuration>;
  /** Time of the provider's last change. */
  updatedAt: number;
  until: number;
}
/** Endpoints and keys by provider. Each provider has one entry, so that changes of a provider do not fill the memory. */
const known = new Map<string, Known>();

/** The provider's endpoints and keys, fetched at the first use and cached; failures are not cached. */
async function configurationOf(provider: SealedProvider): Promise<Configuration> {
  const { id, updatedAt } = provider;
  const cached = known.get(id);
  if (cached && cached.updatedAt === updatedAt && cached.until > now()) return cached.config;
  if (known.size >= providerAnswer.cached) known.clear();
  const entry = { config: discover(provider), updatedAt, until: now() + providerAnswer.metadataMs };
  known.set(id, entry);
  entry.config.catch(() => known.get(id) === entry && known.delete(id));
  return entry.config;
}

async function discover({ id, issuer, clientId, sealedSecret }: SealedProvider): Promise<Configuration> {
  const config = await discoverProvider({
    ...{ issuer, clientId: clientId!, clientSecret: unseal(secretContext(id), sealedSecret!) },
    ...{ timeoutSeconds: providerAnswer.timeoutMs / seconds(1), send: boundedRequests },
  });
  // The library would accept metadata that covers all tenants of a provider; then users of any tenant could sign in.
  const named = config.serverMetadata().issuer;
  if (named !== issuer && named !== `${issuer}/` && `${named}/` !== issuer)
    return rejectAnswer(`Its metadata names a different issuer: ${named.slice(0, 200)}.`);
  return config;
}

/** The URL at the provider where the person signs in. */
export const oidcAddress = async (provider: SealedProvider, binding: SignInBinding): Promise<string> =>
  signInAddress(await configurationOf(provider), returnAddressOf(provider), binding);

/**
 * Exchanges the code in the provider's response for tokens, and returns the user whom the tokens identify. @throws ProviderRejection, and
 * the errors of the library and outbound.ts
 */
export async function oidcUser(
  provider: SealedProvider,
  search: string,
  binding: SignInBinding,
): Promise<ProviderUser> {
  const config = await configurationOf(provider);
  const tokens = await exchangeCode(config, returnAddressOf(provider), search, binding);
  const algorithm = decodeProtectedHeader(tokens.id_token!).alg;
  if (!algorithms.includes(algorithm ?? ''))
    rejectAnswer(`Its ID token is signed with the unsupported algorithm ${algorithm}.`);
  const claims = tokens.claims()!;
  const { email, email_verified, name } = await userClaims(config, tokens);
  if (email_verified === false || email_verified === 'false') rejectAnswer('It has not verified the email address.');
  if (typeof email !== 'string') return rejectAnswer('It returned no email address.');
  return { subject: claims.sub, email, name, hostedDomain: hostedDomainOf(claims) };
}

/** Google signs in every Google account, but only Workspace accounts belong to a domain, which the claim `hd` names. */
const hostedDomainOf = ({ iss, hd }: { iss: string; hd?: unknown }): string | undefined =>
  iss === 'https://accounts.google.com' ? String(hd ?? '') : undefined;
