// Passkeys of console accounts (Web Authentication Level 3): a key pair in the person's device or password manager, whose public key is
// stored here. A passkey verifies its user (UV) and is found without naming the account (discoverable).
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholePerson } from '#access/reach.ts';
import { hours, isoTime, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail/mail.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { conflict, notFound, unauthenticated } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { Person } from './model.ts';
import { lockPerson } from './operations.ts';
import { type Ceremony, isChallenge, newChallenge, refusedPasskey, useChallenge } from './passkey-challenge.ts';
import { passkeyProvider } from './passkey-providers.ts';

const maxPasskeys = 20;

/** The WebAuthn library, loaded at first use, because its certificate parsers would slow down the start of every program. */
const webauthn = () => import('@simplewebauthn/server');

/** A passkey as shown to its owner. */
export interface Passkey {
  id: Id<'passkey'>;
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
}

/** WebAuthn runs in secure contexts (https, or localhost) and identifies a service by a domain, never by an IP address. */
export function arePasskeysPossible(): boolean {
  const { protocol, hostname } = new URL(addresses().issuer);
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return false;
  return protocol === 'https:' || /(^|\.)localhost$/.test(hostname);
}

/** The relying party: the domain of the console, and the only origin that may use its passkeys. */
const relyingParty = () => {
  const { origin, hostname } = new URL(addresses().issuer);
  return { origin, id: hostname, name: 'Agent Engineering Platform' };
};

const listPasskeysSql = `select id, name, created_at, last_used_at from passkeys where person_id = $1
  order by created_at desc, id desc`;

/** The caller's passkeys, newest first. */
export async function listPasskeys(caller: Caller): Promise<Passkey[]> {
  wholePerson(caller);
  return sql<Passkey>(listPasskeysSql, [ownPerson(caller)]);
}

/** The owner of the passkey with this credential id; undefined when there is none. */
export async function personOfPasskey(credentialId: string): Promise<Person | undefined> {
  const values = [Buffer.from(credentialId, 'base64url')];
  const [key] = await sql<StoredKey>('select person_id from passkeys where credential_id = $1', values);
  return key && Person.find({ id: key.personId });
}

/** Options for the browser's WebAuthn call that creates a passkey for the person of a session. */
export async function passkeyCreationOptions(
  caller: Caller,
  person: { email: string; name: string },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  wholePerson(caller);
  const { id: rpID, name: rpName } = relyingParty();
  const personId = ownPerson(caller);
  const credentials = await sql<{ credentialId: Buffer; transports: string[] }>(
    'select credential_id, transports from passkeys where person_id = $1',
    [personId],
  );
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpID,
    rpName,
    userID: new TextEncoder().encode(personId),
    userName: person.email,
    userDisplayName: person.name,
    challenge: newChallenge(creationBy(caller)),
    timeout: lifetimesMs.passkeyChallenge,
    attestationType: 'none',
    excludeCredentials: credentials.map(({ credentialId, transports }) => ({
      id: credentialId.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

const creationBy = ({ credentialId }: Caller): Ceremony => ({ purpose: 'create', browser: credentialId });

const insertPasskeySql = `insert into passkeys
  (id, person_id, credential_id, public_key, counter, transports, name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing returning id`;

/**
 * Stores the passkey that the browser created, and notifies the person by email. `device` names it when its provider is unknown.
 * @throws 401 for a passkey that cannot be verified, 409 for a known passkey or beyond the maximum number.
 */
export async function createPasskey(
  caller: Caller,
  { email }: { email: string },
  answer: RegistrationResponseJSON,
  device: string,
): Promise<void> {
  wholePerson(caller);
  const { origin, id: rpId } = relyingParty();
  const { accepts, challenge } = expecting(creationBy(caller));
  const { verifyRegistrationResponse } = await webauthn();
  const { registrationInfo } = await verifying(
    verifyRegistrationResponse({
      response: answer,
      expectedChallenge: accepts,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    }),
  );
  const { credential, aaguid } = registrationInfo!;
  const name = passkeyProvider(aaguid) ?? device;
  const personId = ownPerson(caller);
  await transaction(async (trx) => {
    await useChallenge(trx, challenge());
    // New passkeys are stored one at a time per person, so that the count is exact.
    await lockPerson(trx, personId);
    const [before] = await sql<{ count: number }>(
      'select count(*)::int as count from passkeys where person_id = $1',
      [personId],
      trx,
    );
    if (before!.count >= maxPasskeys) {
      throw conflict(`An account can have at most ${maxPasskeys} passkeys. Remove one first.`);
    }
    const credentialId = Buffer.from(credential.id, 'base64url');
    const { publicKey, counter, transports = [] } = credential;
    const createdAt = now();
    const values = [
      newId('passkey'),
      personId,
      credentialId,
      Buffer.from(publicKey),
      counter,
      transports,
      name,
      createdAt,
    ];
    const inserted = await sql(insertPasskeySql, values, trx);
    if (inserted.length === 0) throw conflict('This passkey already belongs to an account.');
    const text = `A passkey named "${name}" was added to your account at ${isoTime(createdAt)}.

With it you sign in at ${addresses().issuer} without a code. If you did not add it, remove it at ${addresses().issuer}/console/passkeys
and end the sessions that you do not know at ${addresses().issuer}/console/sessions.
`;
    await queueMail(trx, { to: email, subject: 'A passkey was added to your account', text }, createdAt + hours(24));
  });
}

/** Removes one of the caller's passkeys, which can then no longer sign in. @throws 404 */
export async function removePasskey(caller: Caller, passkeyId: string): Promise<void> {
  wholePerson(caller);
  const removed = await sql('delete from passkeys where id = $1 and person_id = $2 returning id', [
    passkeyId,
    ownPerson(caller),
  ]);
  if (removed.length === 0) throw notFound('passkey');
}

/** Options for the browser's WebAuthn call that signs in with any passkey of this service. `browser` is the secret in the browser's cookie. */
export async function passkeySignInOptions(browser: string): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({
    rpID: relyingParty().id,
    challenge: newChallenge({ purpose: 'sign-in', browser }),
    timeout: lifetimesMs.passkeyChallenge,
    userVerification: 'required',
  });
}

interface StoredKey {
  id: string;
  personId: Id<'person'>;
  publicKey: Buffer;
}
// WebAuthn §7.2 step 22: a counter that does not grow suggests a copied key. Authenticators without a counter always send 0.
const useKeySql = `update passkeys set counter = $2, last_used_at = $3
  where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning id`;

/** The person whose passkey signed this browser's challenge. @throws 401 */
export async function usePasskey(answer: AuthenticationResponseJSON, browser: string | null): Promise<Person> {
  const [key] = await sql<StoredKey>('select id, person_id, public_key from passkeys where credential_id = $1', [
    Buffer.from(answer.id, 'base64url'),
  ]);
  if (!key) throw unauthenticated('This passkey is unknown. It may have been removed.');
  // The account that the authenticator names must own the key (WebAuthn §7.2, step 6).
  const named = Buffer.from(answer.response.userHandle ?? '', 'base64url').toString();
  if (browser === null || named !== key.personId) throw refusedPasskey();
  const { origin, id: rpId } = relyingParty();
  const { accepts, challenge } = expecting({ purpose: 'sign-in', browser });
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await verifying(
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: accepts,
      expectedOrigin: origin,
      expectedRPID: rpId,
      // A stored counter of 0 disables the library's check of the counter. `useKeySql` below makes this check in the statement that stores
      // the new counter, so the check also holds for concurrent sign-ins.
      credential: { id: answer.id, publicKey: new Uint8Array(key.publicKey), counter: 0 },
      requireUserVerification: true,
    }),
  );
  return transaction(async (trx) => {
    await useChallenge(trx, challenge());
    const used = await sql(useKeySql, [key.id, authenticationInfo.newCounter, now()], trx);
    if (used.length === 0) {
      throw unauthenticated(
        'The counter of this passkey has decreased, so it may have been copied. Sign in with a code and remove it.',
      );
    }
    return (await Person.find({ id: key.personId }, trx))!;
  });
}

/** Returns two functions for one ceremony: `accepts` checks a challenge and remembers it, and `challenge` returns the remembered challenge. */
function expecting(ceremony: Ceremony) {
  let accepted = '';
  const accepts = (encoded: string): boolean => {
    accepted = encoded;
    return isChallenge(encoded, ceremony);
  };
  return { accepts, challenge: () => accepted };
}

/** Waits for a verification by the library. An invalid response becomes a 401, whether the library throws or returns `verified: false`. */
async function verifying<R extends { verified: boolean }>(work: Promise<R>): Promise<R> {
  const result = await work.catch(() => null);
  if (!result?.verified) throw refusedPasskey();
  return result;
}
