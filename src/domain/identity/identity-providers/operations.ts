// Operations on identity providers: list, connect, change, delete, and find the provider for an email address.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { addresses, isIdentifier } from '#foundation/http/addresses.ts';
import { checkAddressText } from '#foundation/http/outbound.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { seal } from '#foundation/secrets/secrets.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { domainOf, normalizeEmail } from '../../organization/people/email.ts';
import { providerCounts } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import { ProviderIdentity } from './identity-model.ts';
import { IdentityProvider } from './model.ts';

/** Path prefix of the console's pages for signing in through the provider. */
export const pathOf = (providerId: string): string => `/sign-in/sso/${providerId}`;
/** The URL to which the provider sends the browser back. */
export const returnAddressOf = ({ id }: Pick<IdentityProvider, 'id'>): string =>
  `${addresses().issuer}${pathOf(id)}/return`;
/** The URL to which a SAML provider posts its response, and the URL of the service's metadata, which is also the service's entity id. */
export const acsAddressOf = ({ id }: Pick<IdentityProvider, 'id'>): string => `${addresses().issuer}${pathOf(id)}/acs`;
export const entityIdOf = ({ id }: Pick<IdentityProvider, 'id'>): string =>
  `${addresses().issuer}${pathOf(id)}/metadata`;
export const secretContext = (providerId: string): string => `identity provider:${providerId}`;

export const listProviders = async (caller: Caller): Promise<IdentityProvider[]> =>
  IdentityProvider.findAll({ orgId: wholeOrganization(caller) });

export interface NewProvider {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  defaultRole?: OrgRole | null | undefined;
}

/** Connects a provider, which is offered once it has been tested. @throws 400 for an issuer that is not a public https URL, 409 beyond the maximum */
export async function createProvider(caller: Caller, input: NewProvider): Promise<IdentityProvider> {
  const orgId = wholeOrganization(caller);
  const { name, issuer, clientId, clientSecret, defaultRole = null } = input;
  requireIssuer(issuer);
  requireDefaultRole(defaultRole);
  const fields = { protocol: 'oidc' as const, name, issuer, clientId, defaultRole, ...withoutSaml };
  return insertProvider(caller, orgId, fields, clientSecret);
}

const withoutSaml = { signInUrl: null, certificates: [], metadataUrl: null, metadataReadAt: null };

type FieldName =
  | ('protocol' | 'name' | 'issuer' | 'clientId' | 'defaultRole')
  | ('signInUrl' | 'certificates' | 'metadataUrl' | 'metadataReadAt');

/** Inserts a provider and marks it as not tested yet. @throws 409 when the organization has the maximum number of providers */
export const insertProvider = (
  caller: Caller,
  orgId: Id<'organization'>,
  fields: Pick<IdentityProvider, FieldName>,
  clientSecret: string | null,
): Promise<IdentityProvider> =>
  transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    if ((await IdentityProvider.query(trx).where({ orgId }).resultSize()) >= providerCounts.providers)
      throw conflict(`An organization can have at most ${providerCounts.providers} identity providers.`);
    const [id, at] = [newId('identityProvider'), now()];
    const provider = {
      ...{ ...fields, id, orgId, testedAt: null, metadataFailingSince: null },
      ...{ createdByUserId: caller.userId, createdAt: at, updatedAt: at },
    };
    const sealedSecret = clientSecret === null ? {} : { sealedSecret: seal(secretContext(id), clientSecret) };
    await IdentityProvider.insert(trx, { ...provider, ...sealedSecret });
    return provider;
  });

/** Checks the issuer of an OpenID provider. Each later request resolves and checks the host again. @throws 400 */
function requireIssuer(issuer: string): void {
  try {
    if (!isIdentifier(issuer)) throw new Error();
    checkAddressText(issuer);
  } catch {
    throw invalid.field(
      'issuer',
      'must be an https URL of a public host without query, as in the metadata of the provider',
    );
  }
}

export function requireDefaultRole(role: OrgRole | null): void {
  if (role === 'owner') throw invalid.field('defaultRole', 'must be admin, member or viewer');
}

export type ProviderChanges = { [K in keyof NewProvider]?: NewProvider[K] | undefined };

/**
 * Changes a provider. A new issuer or client needs a new test. With a new issuer, the stored identifiers of users are deleted.
 * @throws as `createProvider`, and 404, 409 for another issuer or client while the provider is required
 */
export async function changeProvider(
  caller: Caller,
  providerId: string,
  { clientSecret, ...input }: ProviderChanges,
): Promise<IdentityProvider> {
  const orgId = wholeOrganization(caller);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  if (input.issuer !== undefined) requireIssuer(input.issuer);
  requireDefaultRole(input.defaultRole ?? null);
  return transaction(async (trx) => {
    const before = await lockProvider(trx, orgId, providerId);
    const after: IdentityProvider = { ...before, ...given, updatedAt: nowAfter(before.updatedAt) };
    const isOfOidc = input.issuer ?? input.clientId ?? clientSecret;
    if (before.protocol === 'saml' && isOfOidc !== undefined)
      throw invalid('A SAML provider has no OAuth client: send its metadata instead.');
    const isMoved = after.issuer !== before.issuer;
    if (isMoved || after.clientId !== before.clientId) {
      await refuseRequired(trx, before);
      after.testedAt = null;
    }
    if (isMoved) await ProviderIdentity.query(trx).where({ orgId, providerId: before.id }).delete();
    const sealedSecret =
      clientSecret === undefined ? {} : { sealedSecret: seal(secretContext(before.id), clientSecret) };
    const { id, ...changes } = after;
    await IdentityProvider.patch(trx, { id }, { ...changes, ...sealedSecret });
    return after;
  });
}

/** Locks and returns the provider, together with the domains of the organization. @throws 404 */
export async function lockProvider(
  trx: Transaction,
  orgId: Id<'organization'>,
  providerId: string,
): Promise<IdentityProvider> {
  await lockOrganization(trx, orgId);
  const provider = await IdentityProvider.find({ id: providerId as IdentityProvider['id'], orgId }, trx);
  return provider ?? IdentityProvider.refuse();
}

export async function refuseRequired(trx: Transaction, { id, orgId }: IdentityProvider): Promise<void> {
  const domain = await SignInDomain.find({ orgId, providerId: id, required: true }, trx);
  if (domain) throw conflict(`${domain.domain} requires this provider. Remove the requirement first.`);
}

/**
 * Deletes a provider, and the records that link the provider's users to accounts. The domains of the provider then have no provider.
 * @throws 404, 409 while a domain requires the provider
 */
export async function deleteProvider(caller: Caller, providerId: string): Promise<{ ok: true; id: string }> {
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    const provider = await lockProvider(trx, orgId, providerId);
    await refuseRequired(trx, provider);
    await SignInDomain.patch(trx, { orgId, providerId: provider.id }, { providerId: null });
    await IdentityProvider.query(trx).deleteById(provider.id);
    return { ok: true, id: provider.id };
  });
}

/** The provider that signs in people with an email address. */
export interface OfferedProvider {
  id: IdentityProvider['id'];
  name: string;
  organizationName: string;
  orgId: Id<'organization'>;
  required: boolean;
}

const provedSql = `select ${columnsOf(SignInDomain)} from sign_in_domains where domain = $1 and verified_at is not null`;

/** The provider that signs in people with an email address; undefined when the domain of the address has no tested provider. */
export async function providerOfAddress(address: string): Promise<OfferedProvider | undefined> {
  const [domain] = await sql<SignInDomain>(provedSql, [domainOf(normalizeEmail(address))]);
  if (!domain?.providerId) return undefined;
  const { orgId, required } = domain;
  const [provider, organization] = await Promise.all([
    IdentityProvider.find({ id: domain.providerId, orgId }),
    Organization.find({ id: orgId }),
  ]);
  if (!provider?.testedAt || !organization || organization.closedAt !== null) return undefined;
  return { id: provider.id, name: provider.name, organizationName: organization.name, orgId, required };
}

/** Deletes the provider identities of a person who is removed from the organization. */
export const forgetIdentities = async (
  trx: Transaction,
  { orgId, userId }: Pick<ProviderIdentity, 'orgId' | 'userId'>,
): Promise<void> => {
  await ProviderIdentity.query(trx).where({ orgId, userId }).delete();
};
