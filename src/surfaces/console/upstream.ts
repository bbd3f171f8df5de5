// Signing in by way of the operator's own OpenID provider (OpenID Connect Core §3.1: authorization code flow with PKCE, state and
// nonce). What the provider proves is an email address, no more: the account is the one of that address.
// openid-client fetches by itself: the provider is the operator's choice, not a stranger's, and may stand in a private network.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';
import { emailAddress } from '#domain/people/email.ts';
import { findOrCreatePerson } from '#domain/people/operations.ts';
import { addresses } from '#foundation/addresses.ts';
import { now } from '#foundation/clock.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { networkOf } from '#foundation/network.ts';
import { badGateway, forbidden, invalid } from '#foundation/problem.ts';
import { seal, unseal } from '#foundation/secrets.ts';
import { createSharedThrottle } from '#foundation/throttle.ts';
import { nameText } from '#graph/validation.ts';
import { lifetimes, rates, text, upstreamProvider } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { seeOther } from './layout.ts';
import { signIn } from './sign-in.ts';
import { ownPath } from './visitor.ts';

export interface UpstreamSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

export const returnPath = '/sign-in/upstream/return';
const cookie = 'upstream';

/** What must be the same when the person comes back. It travels sealed in a cookie: only this browser can come back with it. */
const departure = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  expiresAt: z.number(),
});

/** What the provider says of the person. Providers may say it in the ID token or at the userinfo endpoint (Core §5.4). */
const person = z.object({
  email: emailAddress,
  email_verified: z.literal(true),
  name: nameText(text.personName).optional().catch(undefined),
});

export function createUpstream(settings: UpstreamSettings): { leave: Handler; comeBack: Handler } {
  const provider = createProvider(settings);
  const throttle = createSharedThrottle(
    'upstream sign-ins',
    rates.upstreamSignInsPerHourAndNetwork,
    3_600,
    'Too many sign-ins were started from this network.',
  );

  return {
    /** GET, since a form may lead to our own pages only. Whoever is sent here by a stranger just signs in as themselves. */
    async leave(exchange) {
      await throttle.take(networkOf(exchange.address));
      const config = await provider();
      const returnTo = ownPath(new URLSearchParams(exchange.search).get('return_to'));
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const leaving: z.infer<typeof departure> = {
        state,
        nonce,
        verifier,
        returnTo,
        expiresAt: now() + lifetimes.upstreamSignIn,
      };
      setCookie(exchange, cookie, seal(cookie, JSON.stringify(leaving)), lifetimes.upstreamSignIn);
      const address = buildAuthorizationUrl(config, {
        redirect_uri: returnAddress(),
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      seeOther(exchange, address.href);
    },

    async comeBack(exchange) {
      const left = departureOf(exchange);
      setCookie(exchange, cookie, null, 0);
      const answer = new URLSearchParams(exchange.search);
      if (!left || answer.get('state') !== left.state) {
        throw invalid('This sign-in took too long, or was begun in another browser. Begin again.');
      }
      if (answer.has('error')) throw forbidden('The provider did not sign you in. Begin again, or use a mailed code.');
      const claims = await claimsOf(await provider(), exchange, left);
      const known = person.safeParse(claims);
      if (!known.success) {
        throw forbidden('The provider does not vouch for an email address of yours. Use a mailed code instead.');
      }
      await signIn(exchange, await findOrCreatePerson(known.data.email, known.data.name), left.returnTo);
    },
  };
}

const returnAddress = (): string => `${addresses().issuer}${returnPath}`;

function departureOf(exchange: Exchange): z.infer<typeof departure> | null {
  const sealed = cookieOf(exchange, cookie);
  if (!sealed) return null;
  try {
    const left = departure.parse(JSON.parse(unseal(cookie, sealed)));
    return left.expiresAt > now() ? left : null;
  } catch {
    return null;
  }
}

/** Its endpoints and keys, asked for at the first use and now and then again; a failure is not kept. @throws 502 */
function createProvider({ issuer, clientId, clientSecret }: UpstreamSettings): () => Promise<Configuration> {
  let known: { config: Promise<Configuration>; until: number } | undefined;
  // Core §9: `client_secret_basic` is what a provider takes when it does not say.
  const authentication: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const way = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    way(clientSecret)(server, ...rest);
  };
  const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])];
  const timeout = upstreamProvider.timeout / 1_000;
  return async () => {
    if (!known || known.until <= now()) {
      const config = discovery(new URL(issuer), clientId, undefined, authentication, { execute, timeout });
      known = { config, until: now() + upstreamProvider.kept };
    }
    try {
      return await known.config;
    } catch (error) {
      known = undefined;
      throw failed(error);
    }
  };
}

/** @throws 400 for a code that the provider does not take (any more), 502 for an answer that is none or can not be believed. */
async function claimsOf(
  config: Configuration,
  { search }: Exchange,
  { state, nonce, verifier }: z.infer<typeof departure>,
) {
  try {
    const tokens = await authorizationCodeGrant(config, new URL(`${returnAddress()}?${search}`), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    if (claims.email !== undefined || !config.serverMetadata().userinfo_endpoint) return claims;
    return await fetchUserInfo(config, tokens.access_token, claims.sub);
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
      throw invalid('The provider does not take this sign-in any more. Begin again.');
    }
    throw failed(error);
  }
}

/** For the page no reason; for the log its words alone, because the library's errors also hold claims and bodies. */
const failed = (error: unknown) =>
  Object.assign(badGateway('The sign-in provider gives no good answer. Try again, or use a mailed code.'), {
    cause: new Error(words(error)),
  });

const words = (error: unknown): string =>
  error instanceof Error ? [error.message, error.cause && words(error.cause)].filter(Boolean).join(': ') : '';
