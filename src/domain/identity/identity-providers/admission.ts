// Finds the person for a user of an identity provider: by the provider's identifier of the user or, at the first sign-in, by an email
// address in a domain that the organization has verified. A first sign-in accepts an invite, or creates the membership if the provider has
// a default role.
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden } from '#foundation/problem.ts';
import { isVisibleLine } from '#foundation/visible-text.ts';
import { text } from '#limits.ts';
import { takeOffer } from '../../organization/directory/offers.ts';
import { acceptInviteTo } from '../../organization/invites/operations.ts';
import { addMember, lockMembership } from '../../organization/memberships/operations.ts';
import { domainOf, emailAddress, normalizeEmail } from '../../organization/people/email.ts';
import { Person } from '../../organization/people/model.ts';
import { ensurePerson } from '../../organization/people/operations.ts';
import { providerText } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import { ProviderIdentity } from './identity-model.ts';
import { IdentityProvider } from './model.ts';
import { type ProviderUser, rejectAnswer } from './users.ts';

/** A user whose address belongs to a domain that the provider may sign in. */
interface Known {
  subject: string;
  email: string;
  name: string | undefined;
}

/** The domain of an address. @throws ProviderRejection unless it is verified and assigned to the provider */
async function requireServedDomain(
  trx: Transaction,
  { orgId, id: providerId }: IdentityProvider,
  email: string,
): Promise<string> {
  const domain = domainOf(email);
  const served = await SignInDomain.find({ orgId, domain, providerId }, trx);
  if (!served || served.verifiedAt === null) rejectAnswer(`It is not allowed to sign in email addresses of ${domain}.`);
  return domain;
}

/**
 * Checks that the provider may sign in the user. @throws ProviderRejection for an invalid address or for a domain that the provider does
 * not serve
 */
async function requireServed(trx: Transaction, provider: IdentityProvider, user: ProviderUser): Promise<Known> {
  const { subject } = user;
  const { min, max } = providerText.subject;
  const isId = subject.length >= min && subject.length <= max && subject.isWellFormed() && !subject.includes('\0');
  if (!isId) rejectAnswer(`Its identifier of the user must be ${min} to ${max} characters.`);
  const parsed = emailAddress.safeParse(user.email).data ?? rejectAnswer('It returned no email address.');
  const email = normalizeEmail(parsed);
  const domain = await requireServedDomain(trx, provider, email);
  if (user.hostedDomain !== undefined && user.hostedDomain !== domain)
    rejectAnswer(`The account does not belong to the Workspace of ${domain}.`);
  return { subject, email, name: nameOf(user.name) };
}

/** The name of a new account; undefined when it is not a valid name of an account. */
function nameOf(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.trim() : '';
  const isName = name !== '' && name.length <= text.personName.max && name.isWellFormed() && isVisibleLine(name);
  return isName ? name : undefined;
}

// The lock prevents changes of the provider's settings until the transaction ends, but lets sign-ins run concurrently.
const lockSql = 'select id from identity_providers where id = $1 and updated_at = $2 for share';

async function lockSettings(trx: Transaction, { id, updatedAt }: IdentityProvider): Promise<void> {
  if ((await sql(lockSql, [id, updatedAt], trx)).length === 0)
    rejectAnswer('Its settings were changed during the sign-in. Start again.');
}

/**
 * Returns the person whom the provider has signed in, and makes that person a member.
 * @param present The person who is already signed in to the browser. If the provider has signed in anybody else, the sign-in is refused,
 * because it must not replace the session of `present`.
 * @throws ProviderRejection, 403 for a disabled account, 409 when another person is signed in
 */
export const admitUser = (
  provider: IdentityProvider,
  user: ProviderUser,
  present?: Pick<Person, 'id' | 'email'>,
): Promise<Person> =>
  transaction(async (trx) => {
    await lockSettings(trx, provider);
    const known = await requireServed(trx, provider, user);
    const found = await findPerson(trx, provider, known);
    // The email address of the account with this identifier may differ from the address in the provider's response.
    if (found) await requireServedDomain(trx, provider, found.email);
    if (found?.disabledAt != null) throw forbidden('This account is disabled.');
    if (present && present.id !== found?.id)
      throw conflict(
        `You are signed in as ${present.email}, but ${provider.name} signs in ${known.email}. Sign out first, then sign in again.`,
      );
    const person = await requireMember(trx, provider, known, found);
    await link(trx, provider, known, person);
    return person;
  });

const keyOf = ({ orgId, id }: IdentityProvider) => ({ orgId, providerId: id });

/**
 * Finds the person for whom the provider has sent this identifier before; at the person's first sign-in with the provider, the person with
 * the email address.
 */
async function findPerson(trx: Transaction, provider: IdentityProvider, { subject, email }: Known) {
  const identity = await ProviderIdentity.find({ ...keyOf(provider), subject }, trx);
  return Person.find(identity ? { id: identity.userId } : { email }, trx);
}

/** Makes the person a member. @throws ProviderRejection for a person without an invite when the provider has no default role */
async function requireMember(
  trx: Transaction,
  { orgId, defaultRole }: IdentityProvider,
  { email, name }: Known,
  found: Person | undefined,
): Promise<Person> {
  if (found && (await lockMembership(trx, orgId, found.id))) return found;
  const address = found?.email ?? email;
  const invited = await acceptInviteTo(trx, orgId, address);
  // A user whom the directory has deactivated does not become a member again through the default role.
  const offered = invited ?? (await takeOffer(trx, orgId, address));
  const role = offered === undefined ? defaultRole : offered;
  if (!role) return rejectAnswer(`${email} is not a member of the organization. Ask an admin for an invite.`);
  const person = found ?? (await ensurePerson(trx, email, name));
  await addMember(trx, orgId, person.id, role);
  return person;
}

/** Stores the provider's identifier of a person. @throws ProviderRejection when the person has another identifier at this provider */
async function link(trx: Transaction, provider: IdentityProvider, known: Known, { id: userId }: Person): Promise<void> {
  const key = { ...keyOf(provider), subject: known.subject };
  const at = now();
  const row = { ...key, userId, email: known.email, createdAt: at, lastUsedAt: at };
  await ProviderIdentity.query(trx).insert(row).onConflict().ignore();
  const linked = await ProviderIdentity.patch(trx, { ...key, userId }, { lastUsedAt: at });
  if (linked === 0)
    rejectAnswer(
      `${known.email} belongs to another user of the provider. Ask an admin to remove the member, which forgets that user.`,
    );
}

/** The result of a test sign-in. */
export interface Tested {
  email: string;
  subject: string;
  name: string | undefined;
  /** Whether the tester signed in with the address of their own account. If so, their session counts as a sign-in through the provider. */
  isOwn: boolean;
}

/** Marks a provider as tested if the response to a test sign-in is valid. @throws ProviderRejection as for a sign-in */
export const admitTest = (provider: IdentityProvider, user: ProviderUser, testerId: Id<'person'>): Promise<Tested> =>
  transaction(async (trx) => {
    await lockSettings(trx, provider);
    const known = await requireServed(trx, provider, user);
    const tester = await Person.find({ id: testerId }, trx);
    const isOwn = tester?.email === known.email;
    if (isOwn) await link(trx, provider, known, tester!);
    await IdentityProvider.patch(trx, { id: provider.id }, { testedAt: now() });
    return { ...known, isOwn };
  });
