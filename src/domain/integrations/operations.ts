// Operations on the integrations of an organization: list, create, replace and unseal credentials.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { columnsOf, type Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { seal, unseal } from '#foundation/secrets.ts';
import { Integration, type Vendor, type VendorKind, vendors } from './model.ts';

/** Oldest first, so that a project's default connectors stay the same when more are added. */
export async function listIntegrations(caller: Caller): Promise<Row<Integration>[]> {
  beyondOneProject(caller);
  return Integration.findAll({ orgId: ownOrganization(caller) });
}

export interface NewIntegration {
  orgId: Id<'organization'>;
  vendor: Vendor;
  vendorKind: VendorKind;
  displayName: string;
  externalOrgId?: string | undefined;
  /** The vendor's API credentials; sealed with the service key. */
  credentials?: string | undefined;
}

/** Writes a connector. @throws 400 for a vendor that does not offer this kind */
export async function insertIntegration(trx: Transaction, input: NewIntegration): Promise<Row<Integration>> {
  const { credentials, ...record } = input;
  if (!(vendors[input.vendorKind] as readonly string[]).includes(input.vendor)) {
    throw invalid(`vendor: must be one of ${vendors[input.vendorKind].join(', ')} for the kind ${input.vendorKind}.`);
  }
  const at = now();
  const id = newId('integration');
  const sealedCredentials = credentials === undefined ? null : seal(sealContext(id), credentials);
  const integration = { externalOrgId: null, ...record, id, createdAt: at, updatedAt: at, brokenSince: null };
  await Integration.query(trx).insert({ ...integration, sealedCredentials });
  return integration;
}

/** The context that credentials of an integration are sealed for. */
const sealContext = (id: string) => `integration:${id}`;

/** Replaces the credentials of a connector; its projects keep it. @throws 404 */
export async function replaceCredentials(id: string, credentials: string): Promise<Row<Integration>> {
  const sealedCredentials = seal(sealContext(id), credentials);
  await Integration.query().where({ id }).patch({ sealedCredentials, updatedAt: now(), brokenSince: null });
  return Integration.get({ id });
}

/** The credentials in clear text, for calls to this vendor only: never for a log, an error or a record. @throws 409 */
export async function credentialsOf({ id, displayName }: Pick<Integration, 'id' | 'displayName'>): Promise<string> {
  const [row] = await sql<{ sealed: string | null }>(
    'select sealed_credentials as sealed from integrations where id = $1',
    [id],
  );
  if (!row?.sealed)
    refuse(`The connector ${displayName} has no credentials: connect the vendor again with credentials.`);
  const credentials = unsealed(id, row.sealed);
  // Other characters are not allowed in a header.
  if (credentials && /^[\x21-\x7e]+$/.test(credentials)) return credentials;
  return refuse(`The credentials of the connector ${displayName} cannot be read: connect the vendor again.`);
}

/** Records whether the vendor accepts the credentials, where that is news. */
export async function noteCredentials({ id, brokenSince }: Row<Integration>, areAccepted: boolean): Promise<void> {
  if (areAccepted === (brokenSince === null)) return;
  await Integration.query()
    .where({ id, brokenSince })
    .patch({ brokenSince: areAccepted ? null : now() });
}

const brokenSql = `select ${columnsOf(Integration)} from integrations
  where org_id = $1 and broken_since is not null order by broken_since desc limit 20`;

/** Those whose credentials the vendor rejects, the latest first; at most 20. */
export const listBrokenIntegrations = (orgId: string): Promise<Row<Integration>[]> => sql(brokenSql, [orgId]);

/** Whether the connector is of this vendor and holds credentials. */
export async function holdsCredentials(id: string, vendor: Vendor): Promise<boolean> {
  const held = await sql(
    'select id from integrations where id = $1 and vendor = $2 and sealed_credentials is not null',
    [id, vendor],
  );
  return held.length > 0;
}

/** Null when they were sealed with another key. */
function unsealed(id: string, sealed: string): string | null {
  try {
    return unseal(sealContext(id), sealed).trim();
  } catch {
    return null;
  }
}

function refuse(why: string): never {
  throw conflict(why);
}
