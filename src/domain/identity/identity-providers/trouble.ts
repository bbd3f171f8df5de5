// Problems with an organization's sign-in that its admins should know about: domains whose TXT record is missing, and providers whose
// certificates expire or whose metadata is unusable.
import { X509Certificate } from 'node:crypto';
import type { Id } from '#foundation/ids.ts';
import { sql } from '#foundation/postgres/database.ts';
import type { SignInDomain } from './domain-model.ts';
import { IdentityProvider } from './model.ts';

export interface MissingDomain extends Pick<SignInDomain, 'id' | 'domain' | 'verifiedAt'> {
  missingSince: number;
}

const missingSql = `select id, domain, verified_at, missing_since from sign_in_domains
  where org_id = $1 and missing_since is not null order by domain`;

/** Verified domains of an organization whose TXT record is missing. */
export const listMissingDomains = (orgId: string): Promise<MissingDomain[]> => sql<MissingDomain>(missingSql, [orgId]);

export interface ExpiringProvider extends Pick<IdentityProvider, 'id' | 'name' | 'metadataUrl'> {
  /** When the provider's last certificate expires. */
  expiresAt: number;
}

const expiryOf = (base64: string): number => Date.parse(new X509Certificate(Buffer.from(base64, 'base64')).validTo);

/**
 * SAML providers of an organization whose certificates all expire before a given time. People can still sign in after a certificate has
 * expired (saml-metadata.ts), but by then the provider usually signs with a new certificate, which the service must know.
 */
export async function listExpiringCertificates(orgId: Id<'organization'>, before: number): Promise<ExpiringProvider[]> {
  const providers = await IdentityProvider.findAll({ orgId, protocol: 'saml' });
  return providers
    .filter(({ testedAt }) => testedAt !== null)
    .map(({ id, name, metadataUrl, certificates }) => {
      return { id, name, metadataUrl, expiresAt: Math.max(...certificates.map(expiryOf)) };
    })
    .filter(({ expiresAt }) => expiresAt <= before);
}

export interface FailingProvider extends Pick<IdentityProvider, 'id' | 'name'> {
  since: number;
}

const failingSql = `select id, name, metadata_failing_since as since from identity_providers
  where org_id = $1 and metadata_failing_since <= $2 order by name, id`;

/** Providers of an organization whose metadata has been unusable since the given time or longer. */
export const listFailingMetadata = (orgId: string, since: number): Promise<FailingProvider[]> =>
  sql<FailingProvider>(failingSql, [orgId, since]);
