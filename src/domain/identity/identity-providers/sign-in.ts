// A sign-in through an identity provider: started in a browser, bound to that browser, and finished once, by the provider's response.
import { randomBytes } from 'node:crypto';
import { now } from '#foundation/clock.ts';
import type { SignInBinding } from '#foundation/http/openid.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { digest, seal, unseal } from '#foundation/secrets/secrets.ts';
import { clockSkewMs } from '#limits.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { useJti } from '../agent-identities/id-jag/replay.ts';
import { providerSignInMs } from './bounds.ts';
import { ProviderSignIn } from './identity-model.ts';
import { IdentityProvider } from './model.ts';
import type { SealedProvider } from './oidc.ts';
import { type ProviderUser, rejectAnswer } from './users.ts';

/** The libraries of both protocols, loaded at the first sign-in. */
const oidc = () => import('./oidc.ts');
const saml = () => import('./saml.ts');

export interface Start {
  /** The secret of the browser's cookie. */
  browser: string;
  returnTo: string;
  /** The person who tests the provider; null for a sign-in, which needs a tested provider. */
  testerId: Id<'person'> | null;
}

const sealedSql = 'select sealed_secret from identity_providers where id = $1';

export type FoundProvider = SealedProvider & { organizationName: string };

/** The provider with its secret. @throws 404 for a provider that is unknown, untested or of a closed organization */
export async function findProvider(id: string, isTest: boolean): Promise<FoundProvider> {
  const provider = await IdentityProvider.find({ id: id as IdentityProvider['id'] });
  const organization = provider && (await Organization.find({ id: provider.orgId }));
  if (!provider || organization?.closedAt !== null || (provider.testedAt === null && !isTest))
    throw notFound('identity provider');
  const [sealed] = await sql<{ sealedSecret: string | null }>(sealedSql, [id]);
  return { ...provider, sealedSecret: sealed!.sealedSecret, organizationName: organization.name };
}

const context = (id: string) => `provider sign-in:${id}`;

/** Starts a sign-in, and returns the URL at the provider. */
export async function startSignIn(provider: SealedProvider, { browser, returnTo, testerId }: Start): Promise<string> {
  const [state, nonce, verifier] = [newState(), newState(), newState()];
  const address =
    provider.protocol === 'saml'
      ? await (await saml()).samlAddress(provider, state)
      : await (await oidc()).oidcAddress(provider, { state, nonce, verifier });
  const createdAt = now();
  await ProviderSignIn.query().insert({
    ...{ id: state, orgId: provider.orgId, providerId: provider.id, binding: digest(browser), testerId, returnTo },
    sealedVerifier: seal(context(state), JSON.stringify({ nonce, verifier })),
    ...{ createdAt, expiresAt: createdAt + providerSignInMs.open },
  });
  return address;
}

/** A random state, which is also the id of a SAML request. An id in XML must not begin with a digit, so it begins with an underscore. */
const newState = (): string => `_${randomBytes(32).toString('base64url')}`;

/** A started sign-in whose browser has returned with a response. */
export type Started = Pick<ProviderSignIn, 'id' | 'testerId' | 'returnTo' | 'sealedVerifier' | 'sealedAnswer'>;

const useSql = `update provider_sign_ins set used_at = $4
  where id = $1 and provider_id = $2 and binding = $3 and used_at is null and expires_at > $4
  returning id, tester_id, return_to, sealed_verifier, sealed_answer`;

/** Uses up the sign-in that a response belongs to. @throws 400 for an unknown, used or expired sign-in, and in another browser */
export async function useStarted(provider: IdentityProvider, state: string, browser: string | null): Promise<Started> {
  const [started] = browser ? await sql<Started>(useSql, [state, provider.id, digest(browser), now()]) : [];
  if (!started || (provider.protocol === 'saml' && started.sealedAnswer === null))
    throw invalid('This sign-in has expired, was already used, or was started in another browser. Start again.');
  return started;
}

const answerSql = `update provider_sign_ins set sealed_answer = $3
  where id = $1 and provider_id = $2 and sealed_answer is null and used_at is null and expires_at > $4 returning id`;

/**
 * Stores the response that a SAML provider posts, and returns the id of the request. The browser sends no cookie with a POST from another
 * site, so the page that it opens next, with the cookie, uses the stored response. @throws ProviderRejection, also for an assertion or
 * request that was already used
 */
export async function recordAnswer(provider: IdentityProvider, response: string): Promise<string> {
  if (provider.protocol !== 'saml') throw notFound('identity provider');
  const { user, requestId, assertionId } = await (await saml()).readSamlAnswer(provider, response);
  const at = now();
  const used = { issuer: provider.id, jti: assertionId, expiresAt: at + providerSignInMs.open + clockSkewMs };
  await transaction(async (trx) => {
    if (!(await useJti('saml', used, trx))) rejectAnswer('Its assertion was used before.');
    const answer = seal(context(requestId), JSON.stringify(user));
    const kept = await sql(answerSql, [requestId, provider.id, answer, at], trx);
    if (kept.length === 0)
      rejectAnswer('Its assertion does not answer an open request of this service. Start on the sign-in page.');
  });
  return requestId;
}

/** The user in the provider's response. @throws ProviderRejection, and the errors of the library and outbound.ts */
export async function userOfAnswer(provider: SealedProvider, started: Started, search: string): Promise<ProviderUser> {
  if (started.sealedAnswer !== null) return JSON.parse(unseal(context(started.id), started.sealedAnswer));
  const { nonce, verifier }: Omit<SignInBinding, 'state'> = JSON.parse(
    unseal(context(started.id), started.sealedVerifier),
  );
  return (await oidc()).oidcUser(provider, search, { state: started.id, nonce, verifier });
}

/** Deletes the sign-ins that have expired. */
export const sweepProviderSignIns = async (): Promise<void> => {
  await ProviderSignIn.query().where('expiresAt', '<=', now()).delete();
};
