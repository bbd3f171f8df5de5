// Operations on domains: add a domain, verify it with a TXT record, choose or require its provider, delete it.
import { domainToASCII } from 'node:url';
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { OutboundError, readTxtRecords } from '#foundation/http/outbound.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { badGateway, conflict, invalid } from '#foundation/problem.ts';
import { newSecret } from '#foundation/secrets/secrets.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { challengeName, domainCheckMs, domainChecksPerHour, providerCounts, providerText } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import { ProviderIdentity } from './identity-model.ts';
import { IdentityProvider } from './model.ts';

export const recordNameOf = (domain: string): string => `${challengeName}.${domain}`;

export const listDomains = async (caller: Caller): Promise<SignInDomain[]> =>
  SignInDomain.findAll({ orgId: wholeOrganization(caller) });

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** A domain has at least two labels (RFC 1123 §2.1), the last of which is not a number. */
const domainName = new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`);

/**
 * Adds a domain, which takes effect once its TXT record is found.
 * @throws 400 for an invalid domain; 409 for a domain that is already listed, or when the organization already has the maximum number of
 * domains
 */
export async function createDomain(caller: Caller, input: { domain: string }): Promise<SignInDomain> {
  const orgId = wholeOrganization(caller);
  const domain = domainToASCII(input.domain.trim().toLowerCase().replace(/\.$/, ''));
  if (domain.length > providerText.domain.max || !domainName.test(domain))
    throw invalid.field('domain', 'must be the domain of email addresses, such as example.com');
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const domains = await SignInDomain.findAll({ orgId }, trx);
    if (domains.some((one) => one.domain === domain)) throw conflict.field('domain', `${domain} is already listed`);
    if (domains.length >= providerCounts.domains)
      throw conflict(`An organization can have at most ${providerCounts.domains} domains.`);
    const row = {
      ...{ id: newId('signInDomain'), orgId, domain, token: newSecret('aep-', 24), providerId: null, required: false },
      ...{ verifiedAt: null, checkedAt: null, missingSince: null, createdAt: now() },
    };
    await SignInDomain.insert(trx, row);
    return row;
  });
}

const checks = createSharedThrottle(
  'checks of domains',
  domainChecksPerHour,
  3_600,
  'The domains of this organization have been checked too often.',
);

/** Whether the TXT record of the domain exists. @throws OutboundError when the name servers do not answer */
export const hasRecord = async ({ domain, token }: SignInDomain): Promise<boolean> =>
  (await readTxtRecords(recordNameOf(domain), AbortSignal.timeout(domainCheckMs.timeout))).includes(token);

const verifiedSql = `update sign_in_domains set verified_at = coalesce(verified_at, $2), checked_at = $2, missing_since = null
  where id = $1 returning id`;

/**
 * Verifies a domain if its TXT record exists. Only one organization at a time can have verified a domain.
 * @throws 404, 409 when the record is missing or another organization has verified the domain, 429, 502 when name servers do not answer
 */
export async function verifyDomain(caller: Caller, domainId: string): Promise<SignInDomain> {
  const where = { id: domainId as SignInDomain['id'], orgId: wholeOrganization(caller) };
  const domain = await SignInDomain.get(where);
  await checks.take(domain.orgId);
  await releaseTransaction();
  const isThere = await hasRecord(domain).catch((error) => {
    if (!(error instanceof OutboundError)) throw error;
    throw badGateway(`The name servers of ${domain.domain} did not answer. Try again later.`);
  });
  if (!isThere)
    throw conflict(
      `${recordNameOf(domain.domain)} has no TXT record with this value. DNS changes can take hours to appear.`,
    );
  try {
    await sql(verifiedSql, [domain.id, now()]);
  } catch (error) {
    if (!isUniqueViolation(error, 'sign_in_domains_verified')) throw error;
    throw conflict(`Another organization has verified ${domain.domain}.`);
  }
  return SignInDomain.get(where);
}

export interface DomainChanges {
  providerId?: string | null | undefined;
  required?: boolean | undefined;
}

/**
 * Chooses the provider of a domain, and whether people with an address of the domain must sign in through it.
 * @throws 404 for an unknown domain or provider, 409 if no owner could sign in any longer
 */
export async function changeDomain(caller: Caller, domainId: string, changes: DomainChanges): Promise<SignInDomain> {
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    const before = await lockDomain(trx, orgId, domainId);
    const providerId = (changes.providerId === undefined ? before.providerId : changes.providerId) as
      | SignInDomain['providerId']
      | undefined;
    const after = { providerId: providerId ?? null, required: changes.required ?? before.required };
    const isMoved = after.providerId !== before.providerId;
    if (isMoved && after.providerId) await requireProvider(trx, orgId, after.providerId);
    if (after.required && (isMoved || !before.required)) await requireUsable(trx, { ...before, ...after });
    await SignInDomain.patch(trx, { id: before.id }, after);
    return { ...before, ...after };
  });
}

/** Locks and returns the domain, together with the other domains, the providers and the members of the organization. @throws 404 */
async function lockDomain(trx: Transaction, orgId: Id<'organization'>, domainId: string): Promise<SignInDomain> {
  await lockOrganization(trx, orgId);
  const domain = await SignInDomain.find({ id: domainId as SignInDomain['id'], orgId }, trx);
  return domain ?? SignInDomain.refuse();
}

async function requireProvider(trx: Transaction, orgId: Id<'organization'>, id: string): Promise<void> {
  const known = await IdentityProvider.find({ id: id as IdentityProvider['id'], orgId }, trx);
  if (!known) IdentityProvider.refuse();
}

/** Checks that at least one owner can still sign in after the provider becomes required. @throws 409 */
async function requireUsable(trx: Transaction, { orgId, domain, providerId, verifiedAt }: SignInDomain): Promise<void> {
  if (verifiedAt === null) throw conflict(`${domain} must be verified before a provider can be required.`);
  if (!providerId) throw conflict(`Choose the provider of ${domain} before you require it.`);
  const provider = await IdentityProvider.find({ id: providerId, orgId }, trx);
  const owners = (await Membership.findAll({ orgId, role: 'owner' }, trx)).map(({ userId }) => userId);
  const known = await ProviderIdentity.findByKeys('userId', owners, { orgId, providerId }, trx);
  if (!provider?.testedAt || known.length === 0)
    throw conflict(
      'An owner must have signed in through the provider before it can be required. Test the provider with your own email address.',
    );
}

/** Deletes a domain. @throws 404, 409 while its provider is required */
export async function deleteDomain(caller: Caller, domainId: string): Promise<{ ok: true; id: string }> {
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    const { id, domain, required } = await lockDomain(trx, orgId, domainId);
    if (required)
      throw conflict(
        `Members with an address at ${domain} must sign in through its provider. Remove this requirement before you delete the domain.`,
      );
    await SignInDomain.query(trx).deleteById(id);
    return { ok: true, id };
  });
}

/**
 * For all domains of an organization, removes the rule that members must sign in through a provider, so that locked-out members can sign in
 * again. Returns the domains.
 */
export const liftRequirements = (orgId: Id<'organization'>): Promise<string[]> =>
  transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const lifted = await SignInDomain.patchReturning(trx, { orgId, required: true }, { required: false });
    return lifted.map(({ domain }) => domain);
  });

/** Deletes the domains of an organization that is closed, so that another one can verify them. */
export const releaseDomains = async (trx: Transaction, orgId: Id<'organization'>): Promise<void> => {
  await SignInDomain.query(trx).where({ orgId }).delete();
};
