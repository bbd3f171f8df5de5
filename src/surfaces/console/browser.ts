// The cookies that identify a browser before sign-in. One contains the secret to which the browser's sign-in codes are bound. The other one
// is a device cookie: it contains the email addresses that have signed in with this browser before. For these addresses, the browser has
// limits of its own, which requests from other places cannot use up.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { normalizeEmail } from '#domain/organization/people/email.ts';
import type { SignInBrowser } from '#domain/organization/people/sign-in-codes.ts';
import { now } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { newSecret, seal } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { openSealed } from './sealed.ts';

const secretCookie = 'sign-in';
const knownCookie = 'known-browser';
/** Maximum number of remembered email addresses. The most recently used ones are kept. */
const maxEmails = 5;

const knownBrowser = z.object({ id: z.string(), emails: z.array(z.string()), expiresAt: z.number() });

/** The browser that requests or submits a code for an email address. */
export function browserOf(exchange: Exchange, email: string): SignInBrowser {
  const known = knownBrowserOf(exchange);
  return {
    address: exchange.address,
    secret: browserSecret(exchange),
    knownBrowser: known?.emails.includes(normalizeEmail(email)) ? known.id : null,
  };
}

/** The secret that this browser's codes and challenges are bound to, or null. */
export const browserSecret = (exchange: Exchange): string | null => cookieOf(exchange, secretCookie);

/** The secret of this browser, created if absent; its cookie lasts as long as the codes and challenges bound to it. */
export function keepBrowserSecret(exchange: Exchange): string {
  const secret = browserSecret(exchange) ?? newSecret('');
  setCookie(exchange, secretCookie, secret, lifetimesMs.signInCode);
  return secret;
}

/** After a sign-in, marks the browser as known for this email address, and deletes the secret to which its sign-in codes were bound. */
export function rememberBrowser(exchange: Exchange, email: string): void {
  if (browserSecret(exchange)) setCookie(exchange, secretCookie, null, 0);
  const before = knownBrowserOf(exchange);
  const emails = [email, ...(before?.emails ?? []).filter((other) => other !== email)].slice(0, maxEmails);
  const after: z.infer<typeof knownBrowser> = {
    id: before?.id ?? randomUUID(),
    emails,
    expiresAt: now() + lifetimesMs.knownBrowser,
  };
  setCookie(exchange, knownCookie, seal(knownCookie, JSON.stringify(after)), lifetimesMs.knownBrowser);
}

const knownBrowserOf = (exchange: Exchange): z.infer<typeof knownBrowser> | null =>
  openSealed(knownBrowser, cookieOf(exchange, knownCookie), knownCookie);
