// What a project connects to: a tracker, a source host, a language model (docs/contract.md#integrations).

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

/** Who makes language models: those that a connector of the kind `llm` can be of. */
export type ModelVendor = (typeof vendors.llm)[number];

export const vendorKinds = ['tracker', 'scm', 'llm'] as const;
export type VendorKind = (typeof vendorKinds)[number];
export const vendorNames = ['linear', 'github', 'builtin', 'anthropic', 'openai'] as const;
export type Vendor = (typeof vendorNames)[number];

/** What projects can use the vendor for. */
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
  /** Since when the vendor rejects the credentials; null: it does not, as far as is known. */
  declare brokenSince: number | null;
  /** The address of a compatible server or of GitHub Enterprise Server, without a slash at its end; null: the vendor's own. */
  declare baseUrl: string | null;
  /** False before there are any, and once they are revoked. */
  declare hasCredentials: boolean;
  /** When the vendor was last asked whether the credentials work; null: never since they were set. */
  declare checkedAt: number | null;
  /** Why it said no; null: it said yes. */
  declare checkFailure: string | null;
}
