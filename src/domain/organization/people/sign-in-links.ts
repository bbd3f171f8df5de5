// Links that sign in whichever browser opens them. They are mailed with a code, or issued by the operator. Each link expires after ten
// minutes and can be used only once; only its digest is stored.

import { now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { unauthenticated } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { normalizeEmail } from './email.ts';
import type { Person } from './model.ts';
import { ensurePerson } from './operations.ts';

/** The browser that requested an email, and the path that it opens after the sign-in. */
interface Origin {
  /** The digest of the secret in the requesting browser's cookie. */
  binding: Buffer;
  returnTo: string | null;
}

const insertLinkSql = `insert into sign_in_links (digest, email, binding, return_to, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6)`;
const findLinkSql = `select email, created_at from sign_in_links
  where digest = $1 and used_at is null and expires_at > $2`;
const useLinkSql = `update sign_in_links set used_at = $2
  where digest = $1 and used_at is null and expires_at > $2 returning email, binding, return_to`;
/** The URL of a page that signs its visitor in as the person with this email address. The URL must be kept secret. */
export async function createSignInLink(address: string, origin?: Origin, trx?: Transaction): Promise<string> {
  const secret = newSecret('');
  const createdAt = now();
  const { binding = null, returnTo = null } = origin ?? {};
  const expiresAt = createdAt + lifetimesMs.signInLink;
  const values = [digest(secret), normalizeEmail(address), binding, returnTo, createdAt, expiresAt];
  await sql(insertLinkSql, values, trx);
  return `${addresses().issuer}/sign-in/link?token=${secret}`;
}

/**
 * The email address that a link signs in, and the time of its request; does not consume the link. @throws 401 for an unknown, used or
 * expired link
 */
export async function findSignInLink(secret: string): Promise<{ email: string; createdAt: number }> {
  const [link] = await sql<{ email: string; createdAt: number }>(findLinkSql, [digest(secret), now()]);
  if (!link) throw refusedLink();
  return link;
}

/**
 * Uses up a link and returns the person that it was created for; the code in the same mail ends too. `returnTo` is null in any browser
 * other than the one that requested the mail, so that a stranger who requests a link cannot choose where the person lands. @throws 401
 */
export const useSignInLink = (
  secret: string,
  browser: string | null,
): Promise<{ person: Person; returnTo: string | null }> =>
  transaction(async (trx) => {
    const at = now();
    type Link = { email: string; binding: Buffer | null; returnTo: string | null };
    const [link] = await sql<Link>(useLinkSql, [digest(secret), at], trx);
    if (!link) throw refusedLink();
    const { email, binding, returnTo } = link;
    if (binding)
      await sql(
        'update sign_in_codes set used_at = $3 where email = $1 and binding = $2 and used_at is null',
        [email, binding, at],
        trx,
      );
    const isOwnBrowser = browser !== null && binding !== null && digest(browser).equals(binding);
    return { person: await ensurePerson(trx, email), returnTo: isOwnBrowser ? returnTo : null };
  });

const refusedLink = () =>
  unauthenticated('This sign-in link was used or is older than ten minutes. Request a new one.');
