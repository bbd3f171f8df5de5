// Proving a mail address: a six-digit code that is mailed to it, or a link that the operator hands over. Each is good for ten
// minutes and one use (design decisions, People). Wrong, used up, ended and expired can't be told apart from outside.
import { addresses } from '#foundation/addresses.ts';
import { hours, now } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail.ts';
import { tooMany, unauthenticated } from '#foundation/problem.ts';
import { Stored } from '#foundation/record.ts';
import { codeDigest, digest, newCode, newSecret, sameBytes } from '#foundation/secrets.ts';
import { lifetimes, rates, tries } from '#limits.ts';
import { normalAddress } from './mail-address.ts';
import type { Person } from './model.ts';
import { ensurePerson } from './operations.ts';

class SignInCode extends Stored {
  static override tableName = 'sign_in_codes';

  declare id: Id<'signInCode'>;
  declare email: string;
  declare codeDigest: Buffer;
  declare createdAt: number;
  declare expiresAt: number;
  declare usedAt: number | null;
}

class SignInLink extends Stored {
  static override tableName = 'sign_in_links';
  static override idColumn = 'digest';

  declare digest: Buffer;
  declare email: string;
  declare createdAt: number;
  declare expiresAt: number;
  declare usedAt: number | null;
}

const rateWindow = hours(1);
/** Keeps the locks of sign-in apart from other advisory locks on texts. */
const lockSpace = 5_192_601;

/** Mails a fresh code to the address, whether or not it has an account; older codes end. 429 after too many in an hour. */
export const sendSignInCode = (address: string): Promise<void> =>
  transaction(async (trx) => {
    const email = normalAddress(address);
    // One at a time per address: the count is exact, and never are two codes good at once.
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, ?))', [email, lockSpace]);
    const createdAt = now();
    const recent = await SignInCode.query(trx)
      .select('createdAt')
      .where({ email })
      .where('createdAt', '>', createdAt - rateWindow)
      .orderBy('createdAt', 'desc')
      .limit(rates.signInCodesPerHour);
    if (recent.length === rates.signInCodesPerHour) {
      const freeAt = recent[recent.length - 1]!.createdAt + rateWindow;
      throw tooMany(Math.ceil((freeAt - createdAt) / 1_000), 'Too many codes were asked for this mail address.');
    }
    await SignInCode.query(trx).where({ email }).where('expiresAt', '>', createdAt).patch({ expiresAt: createdAt });
    const id = newId('signInCode');
    const code = newCode();
    const expiresAt = createdAt + lifetimes.signInCode;
    await SignInCode.query(trx).insert({ id, email, codeDigest: digestOf(id, code), createdAt, expiresAt });
    const text = `Your sign-in code is ${code}

It is good for ten minutes and for one sign-in at ${addresses().issuer}.
If you did not ask for it, ignore this mail: without the code nobody gets in.
`;
    await queueMail(trx, { to: email, subject: 'Your sign-in code', text }, expiresAt);
  });

const digestOf = (id: string, code: string): Buffer => codeDigest('sign-in', `${id}:${code}`);

/** The person whose mail address the code proves; an account is made at the first sign-in. 401 for any other code. */
export async function useSignInCode(address: string, code: string): Promise<Person> {
  const email = normalAddress(address);
  // The try is counted, and the count committed, before anything is compared: parallel guesses share the same five.
  const [live] = await sql<{ id: string; codeDigest: Buffer }>(
    `update sign_in_codes set try_count = try_count + 1
      where email = $1 and used_at is null and expires_at > $2 and try_count < $3 returning id, code_digest`,
    [email, now(), tries.wrongSignInCodes],
  );
  if (!live || !sameBytes(live.codeDigest, digestOf(live.id, code))) throw refusedCode();
  return transaction(async (trx) => {
    const used = await SignInCode.query(trx)
      .where({ id: live.id, usedAt: null })
      .where('expiresAt', '>', now())
      .patch({ usedAt: now() });
    if (used === 0) throw refusedCode();
    return ensurePerson(trx, email);
  });
}

const refusedCode = () =>
  unauthenticated(
    'This code is wrong, was used, or is older than ten minutes. After five wrong ones ask for a new code.',
  );

/** The address of a page that signs its visitor in, once, within ten minutes. Whoever holds it is that person. */
export async function createSignInLink(address: string): Promise<string> {
  const secret = newSecret('');
  const createdAt = now();
  const email = normalAddress(address);
  await SignInLink.query().insert({
    digest: digest(secret),
    email,
    createdAt,
    expiresAt: createdAt + lifetimes.signInLink,
  });
  return `${addresses().issuer}/sign-in/link?token=${secret}`;
}

/** The person a link was made for. 401 for a link that is unknown, was used or is too old. */
export function useSignInLink(secret: string): Promise<Person> {
  return transaction(async (trx) => {
    const [link] = await SignInLink.query(trx)
      .where({ digest: digest(secret), usedAt: null })
      .where('expiresAt', '>', now())
      .patch({ usedAt: now() })
      .returning(['email'] as never);
    if (!link) throw unauthenticated('This sign-in link was used or is older than ten minutes. Ask for a new one.');
    return ensurePerson(trx, link.email);
  });
}

/** Deletes what no longer signs anybody in and no longer counts against the rate. */
export async function sweepSignIns(): Promise<void> {
  await SignInCode.query()
    .delete()
    .where('createdAt', '<=', now() - rateWindow)
    .where('expiresAt', '<=', now());
  await SignInLink.query().delete().where('expiresAt', '<=', now());
}
