// Six-digit codes that are mailed to an address. A code is bound to the browser that requested it: it can be redeemed only with that
// browser's secret, and only wrong attempts with that secret count against it.

import { isoTime, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail/mail.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { unauthenticated } from '#foundation/problem.ts';
import { codeDigest, digest, newCode, sameBytes } from '#foundation/secrets/secrets.ts';
import { lifetimesMs, tries } from '#limits.ts';
import { normalizeEmail } from './email.ts';
import type { Person } from './model.ts';
import { ensurePerson } from './operations.ts';
import { sweepChallenges } from './passkey-challenge.ts';
import { admitSignInMail, admitSignInTry, type SignInSource } from './sign-in-limits.ts';
import { createSignInLink } from './sign-in-links.ts';

/** Maximum length of a return path; a longer path is ignored. */
const maxReturnToChars = 8_000;

/** The browser in which a person signs in. */
export interface SignInBrowser extends SignInSource {
  /** The secret in the browser's cookie; null for a browser that has requested no code. */
  secret: string | null;
}

// A new code replaces the earlier code for the same address and browser, so that only one code is left after concurrent requests.
const putCodeSql = `insert into sign_in_codes (id, email, binding, code_digest, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (email, binding) do update set id = excluded.id, code_digest = excluded.code_digest, try_count = 0,
    created_at = excluded.created_at, expires_at = excluded.expires_at, used_at = null`;

/** Mails a code and a link to the address, whether or not it has an account. @throws 429 */
export async function sendSignInCode(
  address: string,
  browser: SignInSource & { secret: string },
  returnTo: string,
): Promise<void> {
  const email = normalizeEmail(address);
  await admitSignInMail(email, browser);
  await transaction(async (trx) => {
    const createdAt = now();
    const expiresAt = createdAt + lifetimesMs.signInCode;
    const id = newId('signInCode');
    const code = newCode();
    const binding = digest(browser.secret);
    const kept = returnTo.length <= maxReturnToChars ? returnTo : null;
    await sql(putCodeSql, [id, email, binding, digestOf(id, code), createdAt, expiresAt], trx);
    const link = await createSignInLink(email, { binding, returnTo: kept }, trx);
    const text = `Your sign-in code is ${code}

Enter it in the browser in which you requested it. To sign in in any other browser, open this link and press the button there:
${link}

Both expire after ten minutes and work for one sign-in at ${addresses().issuer}.
They were requested at ${isoTime(createdAt)} from the address ${browser.address}.
If you did not request this, ignore this email. Do not share the code or the link.
`;
    await queueMail(trx, { to: email, subject: 'Your sign-in code', text }, expiresAt);
  });
}

const digestOf = (id: string, code: string): Buffer => codeDigest('sign-in', `${id}:${code}`);

const findBindingSql = 'select 1 from sign_in_codes where email = $1 and binding = $2';
const countTrySql = `update sign_in_codes set try_count = try_count + 1
  where email = $1 and binding = $2 and used_at is null and expires_at > $3 and try_count < $4 returning id, code_digest`;
// Links are locked before codes, both here and in sign-in-links.ts, which prevents deadlocks. Using either the link or the code also ends
// the other.
const endLinksSql = `update sign_in_links set used_at = $3
  where email = $1 and binding = $2 and used_at is null`;
const useCodeSql = `update sign_in_codes set used_at = $2
  where id = $1 and used_at is null and expires_at > $2 returning id`;

/** The person whose address the code proves; the first sign-in creates the account. @throws 401, 429 */
export async function useSignInCode(address: string, browser: SignInBrowser, code: string): Promise<Person> {
  const email = normalizeEmail(address);
  await admitSignInTry(browser);
  const binding = browser.secret === null ? null : digest(browser.secret);
  if (!binding || (await sql(findBindingSql, [email, binding])).length === 0) throw foreignCode();
  // The attempt is counted and committed before the comparison, so that concurrent guesses share the same five attempts.
  const [live] = await sql<{ id: string; codeDigest: Buffer }>(countTrySql, [
    email,
    binding,
    now(),
    tries.wrongSignInCodes,
  ]);
  if (!live || !sameBytes(live.codeDigest, digestOf(live.id, code))) throw refusedCode();
  return transaction(async (trx) => {
    await sql(endLinksSql, [email, binding, now()], trx);
    const used = await sql(useCodeSql, [live.id, now()], trx);
    if (used.length === 0) throw refusedCode();
    return ensurePerson(trx, email);
  });
}

const foreignCode = () =>
  unauthenticated(
    'This browser did not request a code for this email address. Enter the code in the browser that did, or open the link in the mail.',
  );

const refusedCode = () =>
  unauthenticated(
    'This code is wrong, was used, or is older than ten minutes. After five wrong codes request a new one.',
  );

/** Deletes codes, links and used challenges that have expired. */
export async function sweepSignIns(): Promise<void> {
  await sql('delete from sign_in_codes where expires_at <= $1', [now()]);
  await sql('delete from sign_in_links where expires_at <= $1', [now()]);
  await sweepChallenges();
}
