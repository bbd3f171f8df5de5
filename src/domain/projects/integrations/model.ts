// The connectors of projects: to a tracker, a source host, a language model (docs/contract.md#integrations).

import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';

/** The vendors of each kind of connector. */
export const vendors = {
  tracker: ['builtin', 'linear', 'github'],
  scm: ['github', 'builtin'],
  llm: ['anthropic', 'openai'],
} as const;

/** The vendors of language models: those of connectors of the kind `llm`. */
export type ModelVendor = (typeof vendors.llm)[number];

export const vendorKinds = ['tracker', 'scm', 'llm'] as const;
export type VendorKind = (typeof vendorKinds)[number];
export const vendorNames = ['linear', 'github', 'builtin', 'anthropic', 'openai'] as const;
export type Vendor = (typeof vendorNames)[number];

/** The kinds of connector that the vendor offers. */
export const kindsOf = (vendor: Vendor): VendorKind[] =>
  vendorKinds.filter((kind) => (vendors[kind] as readonly Vendor[]).includes(vendor));

export class Integration extends BaseModel {
  static override tableName = 'integrations';
  static override noun = 'integration';
  static override order = '"created_at", "id"';
  static override columns = [
    'id',
    'orgId',
    'vendor',
    'vendorKind',
    'externalOrgId',
    'displayName',
    'createdAt',
    'updatedAt',
    'brokenSince',
    'baseUrl',
    'hasCredentials',
    'checkedAt',
    'checkFailure',
  ];

  static visibleTo = orgWide;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  declare id: Id<'integration'>;
  declare orgId: Id<'organization'>;
  declare vendor: Vendor;
  declare vendorKind: VendorKind;
  /** The organization, workspace or account on the vendor's side. */
  declare externalOrgId: string | null;
  declare displayName: string;
  /** The vendor's API credentials, sealed. Not a column: no read returns them. */
  declare sealedCredentials?: string | null;
  declare createdAt: number;
  declare updatedAt: number;
  /** When the vendor was first known to reject the credentials; null: it is not known to reject them. */
  declare brokenSince: number | null;
  /** The address of a compatible server or of GitHub Enterprise Server, without a trailing slash; null: the vendor's own. */
  declare baseUrl: string | null;
  /** False until credentials are set, and after they are revoked. */
  declare hasCredentials: boolean;
  /** When the credentials were last checked with the vendor; null: never since they were set. */
  declare checkedAt: number | null;
  /** The reason that the check failed; null: it passed. */
  declare checkFailure: string | null;
}
