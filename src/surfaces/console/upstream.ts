// Sign-in with the operator's own OpenID provider (OpenID Connect Core §3.1: authorization code flow with PKCE, state and nonce). The
// provider proves only an email address, and this address identifies the account. openid-client sends requests itself, without outbound.ts:
// the operator chooses the provider, which may be in a private network.
import { type Configuration, ResponseBodyError, randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import { emailAddress } from '#domain/organization/people/email.ts';
import { findOrCreatePerson, findPersonByAddress } from '#domain/organization/people/operations.ts';
import { hours, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { discoverProvider, exchangeCode, signInAddress, userClaims } from '#foundation/http/openid.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { badGateway, forbidden, invalid } from '#foundation/problem.ts';
import { seal } from '#foundation/secrets/secrets.ts';
import { nameText } from '#graph/validation.ts';
import { lifetimesMs, rates, text } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { seeOther } from './layout.ts';
import { openSealed } from './sealed.ts';
import { noteRefusedSignIn, signIn, upstreamPaths } from './sign-in.ts';
import { ownPath } from './visitor.ts';

const timeoutSeconds = 5;
/** How long the provider's metadata is cached. */
const metadataCacheMs = hours(1);

export interface UpstreamSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

const cookie = 'upstream';

/** The values that the response must match, sealed in a cookie: only the browser that started the sign-in can finish it. */
const startedSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  expiresAt: z.number(),
});

/** Claims about the person, from the ID token or the userinfo endpoint (OpenID Connect Core §5.4). */
const person = z.object({
  email: emailAddress,
  email_verified: z.literal(true),
  name: nameText(text.personName).optional().catch(undefined),
});

export function createUpstream(settings: UpstreamSettings): { startSignIn: Handler; finishSignIn: Handler } {
  const provider = createProvider(settings);
  const throttle = createSharedThrottle(
    'upstream sign-ins',
    rates.upstreamSignInsPerHourAndNetwork,
    3_600,
    'Too many sign-ins were started from this network.',
  );

  return {
    /**
     * Handles a GET, because `form-action` allows only the service's own pages. A cross-site link to this URL only signs visitors in as
     * themselves.
     */
    async startSignIn(exchange) {
      await throttle.take(networkOf(exchange.address));
      const config = await provider();
      const returnTo = ownPath(new URLSearchParams(exchange.search).get('return_to'));
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const started: z.infer<typeof startedSignIn> = {
        state,
        nonce,
        verifier,
        returnTo,
        expiresAt: now() + lifetimesMs.upstreamSignIn,
      };
      setCookie(exchange, cookie, seal(cookie, JSON.stringify(started)), lifetimesMs.upstreamSignIn);
      seeOther(exchange, await signInAddress(config, returnAddress(), started));
    },

    async finishSignIn(exchange) {
      const started = openSealed(startedSignIn, cookieOf(exchange, cookie), cookie);
      setCookie(exchange, cookie, null, 0);
      const response = new URLSearchParams(exchange.search);
      if (!started || response.get('state') !== started.state) {
        throw invalid('This sign-in expired or was started in another browser. Start again.');
      }
      if (response.has('error'))
        throw forbidden('The provider did not sign you in. Start again, or use an emailed code.');
      const claims = await claimsOf(await provider(), exchange, started);
      const known = person.safeParse(claims);
      if (!known.success) {
        const problem = forbidden('The provider did not return a verified email address. Use an emailed code instead.');
        const claimed = emailAddress.safeParse(claims.email).data;
        if (claimed) noteRefusedSignIn(exchange, problem, () => findPersonByAddress(claimed));
        throw problem;
      }
      await signIn(exchange, await findOrCreatePerson(known.data.email, known.data.name), started.returnTo);
    },
  };
}

const returnAddress = (): string => `${addresses().issuer}${upstreamPaths.return}`;

/** The provider's endpoints and keys, fetched at the first use and cached; failures are not cached. @throws 502 */
function createProvider(settings: UpstreamSettings): () => Promise<Configuration> {
  let known: { config: Promise<Configuration>; until: number } | undefined;
  return async () => {
    if (!known || known.until <= now()) {
      known = { config: discoverProvider({ ...settings, timeoutSeconds }), until: now() + metadataCacheMs };
    }
    try {
      return await known.config;
    } catch (error) {
      known = undefined;
      throw failed(error);
    }
  };
}

/** Exchanges the code for the person's claims. @throws 400 for a code that the provider rejects, 502 for a missing or invalid response */
async function claimsOf(config: Configuration, { search }: Exchange, started: z.infer<typeof startedSignIn>) {
  try {
    return await userClaims(config, await exchangeCode(config, returnAddress(), search, started));
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
      throw invalid('The provider rejected this sign-in. Start again.');
    }
    throw failed(error);
  }
}

/** The page does not show the cause. Only its message is logged: the library's errors also contain claims and bodies. */
const failed = (error: unknown) =>
  Object.assign(badGateway('The sign-in provider returned an invalid response. Try again, or use an emailed code.'), {
    cause: new Error(messageOf(error)),
  });

const messageOf = (error: unknown): string =>
  error instanceof Error ? [error.message, error.cause && messageOf(error.cause)].filter(Boolean).join(': ') : '';
