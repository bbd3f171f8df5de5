// Operations on SAML providers, which are connected and changed through their metadata. Metadata with a URL is read again every day.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { isIdentifier } from '#foundation/http/addresses.ts';
import { OutboundError, sendRequest } from '#foundation/http/outbound.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { badGateway, invalid, Problem } from '#foundation/problem.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { providerAnswer, samlBounds } from './bounds.ts';
import { ProviderIdentity } from './identity-model.ts';
import { IdentityProvider } from './model.ts';
import { insertProvider, lockProvider, refuseRequired, requireDefaultRole } from './operations.ts';
import type { SamlMetadata } from './saml-metadata.ts';

/** The metadata itself, or the URL that serves it. */
export interface MetadataSource {
  metadataXml?: string | null | undefined;
  metadataUrl?: string | null | undefined;
}

/** Reads metadata. @throws 400 for unusable metadata, 502 when its URL does not respond */
async function readMetadata({ metadataXml, metadataUrl }: MetadataSource): Promise<SamlMetadata> {
  if ((metadataXml == null) === (metadataUrl == null)) throw invalid('Send either metadataXml or metadataUrl.');
  if (metadataUrl != null && !isIdentifier(metadataUrl.split('?', 1)[0]!))
    throw invalid.field('metadataUrl', 'must be an https URL of a public host');
  const xml = metadataXml ?? (await fetchMetadata(metadataUrl!));
  const { parseSamlMetadata } = await import('./saml-metadata.ts');
  const metadata = parseSamlMetadata(xml, metadataXml == null ? 'metadataUrl' : 'metadataXml');
  return metadata;
}

async function fetchMetadata(url: string): Promise<string> {
  const signal = AbortSignal.timeout(providerAnswer.timeoutMs);
  const { status, bytes } = await sendRequest(url, { maxBytes: samlBounds.metadataBytes, signal }).catch((error) => {
    if (!(error instanceof OutboundError)) throw error;
    throw badGateway('The metadata URL does not respond, or is not an https URL of a public host.');
  });
  if (status !== 200) throw badGateway(`The metadata URL answered with status ${status}.`);
  return bytes.toString('utf8');
}

export interface NewSamlProvider extends MetadataSource {
  name: string;
  defaultRole?: OrgRole | null | undefined;
}

/**
 * Connects a SAML provider; people can sign in through it once it has been tested.
 * @throws 400 and 502 for the reasons of `readMetadata`, 409 when the organization already has the maximum number of providers
 */
export async function createSamlProvider(caller: Caller, input: NewSamlProvider): Promise<IdentityProvider> {
  const orgId = wholeOrganization(caller);
  const { name, defaultRole = null, metadataUrl = null } = input;
  requireDefaultRole(defaultRole);
  await releaseTransaction();
  const metadata = await readMetadata(input);
  const read = { ...metadata, metadataUrl, metadataReadAt: now() };
  return insertProvider(caller, orgId, { protocol: 'saml', name, clientId: null, defaultRole, ...read }, null);
}

/**
 * Replaces the metadata of a SAML provider. A new entity id or sign-in URL needs a new test. With a new entity id, the stored identifiers
 * of users are deleted.
 * @throws as `createSamlProvider`, 404, and 409 for another entity id or sign-in URL while the provider is required
 */
export async function replaceSamlMetadata(
  caller: Caller,
  providerId: string,
  source: MetadataSource,
): Promise<IdentityProvider> {
  const orgId = wholeOrganization(caller);
  const known = await IdentityProvider.get({ id: providerId as IdentityProvider['id'], orgId });
  if (known.protocol !== 'saml') IdentityProvider.refuse();
  await releaseTransaction();
  return applyMetadata(orgId, providerId, await readMetadata(source), source.metadataUrl ?? null);
}

const applyMetadata = (
  orgId: Id<'organization'>,
  providerId: string,
  metadata: SamlMetadata,
  metadataUrl: string | null,
): Promise<IdentityProvider> =>
  transaction(async (trx) => {
    const before = await lockProvider(trx, orgId, providerId);
    const isMoved = metadata.issuer !== before.issuer;
    const isOther = isMoved || metadata.signInUrl !== before.signInUrl;
    if (isOther) await refuseRequired(trx, before);
    if (isMoved) await ProviderIdentity.query(trx).where({ orgId, providerId: before.id }).delete();
    const at = nowAfter(before.updatedAt);
    const read = { ...metadata, metadataUrl, metadataReadAt: at, metadataFailingSince: null };
    const changes = { ...read, updatedAt: at, ...(isOther && { testedAt: null }) };
    await IdentityProvider.patch(trx, { id: before.id }, changes);
    return { ...before, ...changes };
  });

// Changing `metadata_read_at` claims the provider, so that only one process reads its metadata.
const claimSql = `update identity_providers set metadata_read_at = $1 where id in (
    select id from identity_providers where metadata_url is not null and metadata_read_at <= $2
      and ${isWritableSql('identity_providers.org_id')}
    order by metadata_read_at limit 20 for update skip locked)
  returning ${columnsOf(IdentityProvider)}`;
// Sign-ins in progress compare `updated_at`, which therefore changes only when the certificates do.
const rotateSql = `update identity_providers set certificates = $2, metadata_failing_since = null,
    updated_at = case when certificates <> $2 then greatest(updated_at + 1, $3) else updated_at end
  where id = $1 and issuer = $4 and sign_in_url = $5 and (certificates <> $2 or metadata_failing_since is not null)`;
const failSql = `update identity_providers set metadata_failing_since = $2
  where id = $1 and metadata_url = $3 and metadata_failing_since is null`;

/**
 * Reads metadata that was last read at least a day ago, because it may have new keys. If the metadata is unusable or has another entity id
 * or sign-in URL, only the time is recorded.
 */
export async function refreshMetadata(): Promise<void> {
  const at = now();
  for (;;) {
    const providers = await sql<IdentityProvider>(claimSql, [at, at - samlBounds.metadataMs]);
    if (providers.length === 0) return;
    await Promise.all(
      providers.map(async ({ id, issuer, signInUrl, metadataUrl }) => {
        const metadata = await readMetadata({ metadataUrl }).catch((error) => {
          if (!(error instanceof Problem)) throw error;
          return null;
        });
        const isUsable = metadata?.issuer === issuer && metadata.signInUrl === signInUrl;
        await (isUsable
          ? sql(rotateSql, [id, metadata.certificates, at, issuer, signInUrl])
          : sql(failSql, [id, at, metadataUrl]));
      }),
    );
  }
}
