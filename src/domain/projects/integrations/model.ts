// The connectors of projects: to a tracker, a source host, a language model (docs/contract.md#integrations).

import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';

/** The vendors of each kind of connector. */
export const vendors = {
  tracker: ['builtin', 'linear', 'github'],
  scm: ['github', 'builtin'],
  llm: ['anthropic', 'openai'],
} as const;

/** The vendors of language models: those of connectors of the kind `llm`. */
export type ModelVendor = (typeof vendors.llm)[number];

/** A model outside the catalog: only connectors that name it provide it, not every connector of a vendor. */
export type NamedModel = `model:${string}`;
export type ModelProvider = ModelVendor | NamedModel;

export const vendorKinds = ['tracker', 'scm', 'llm'] as const;
export type VendorKind = (typeof vendorKinds)[number];
export const vendorNames = ['linear', 'github', 'builtin', 'anthropic', 'openai'] as const;
export type Vendor = (typeof vendorNames)[number];

/** The kinds of connector that the vendor offers. */
export const kindsOf = (vendor: Vendor): VendorKind[] =>
  vendorKinds.filter((kind) => (vendors[kind] as readonly Vendor[]).includes(vendor));

/** US dollars per million tokens. */
export interface ModelPrices {
  input: number;
  output: number;
  /** Tokens read from the vendor's cache; absent means the price of input. */
  cacheRead?: number | null | undefined;
  /** Tokens written to the cache; absent means the price of input. */
  cacheWrite?: number | null | undefined;
}

/** A model that the server of a connector knows. */
export interface ConnectorModel {
  id: string;
  name: string;
  prices: ModelPrices;
}

export class Integration extends table('integrations', {
  id: column<Id<'integration'>>(),
  orgId: column<Id<'organization'>>(),
  vendor: column<Vendor>(),
  vendorKind: column<VendorKind>(),
  /** The organization, workspace or account on the vendor's side. */
  externalOrgId: column<string | null>(),
  displayName: column<string>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  /** When the vendor was first known to reject the credentials; null means it is not known to reject them. */
  brokenSince: column<number | null>(),
  /** The address of a compatible server or of GitHub Enterprise Server, without a trailing slash; null means the vendor's own. */
  baseUrl: column<string | null>(),
  /** Whether credentials are set: false before, and after they are revoked. */
  hasCredentials: column<boolean>(),
  /** When the credentials were last checked with the vendor; null means that they were not checked since they were set. */
  checkedAt: column<number | null>(),
  /** The reason that the check failed; null means it passed. */
  checkFailure: column<string | null>(),
  /** Models of a connector of the kind `llm`. Only one connector of an organization may name an id. */
  models: column<ConnectorModel[]>(),
}) {
  static override noun = 'integration';
  static override jsonAttributes = ['models'];
  static override order = '"created_at", "id"';

  static visibleTo = orgWide;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  /** The vendor's API credentials, sealed. Not a column: no read returns them. */
  declare sealedCredentials?: string | null;
}
