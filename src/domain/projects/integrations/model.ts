// The connectors of projects: to a tracker, a source host, a language model (docs/contract.md#integrations).

import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { vendorProfiles } from './profiles.ts';

/** A project uses one connector of each of these kinds. */
export const projectKinds = ['tracker', 'scm', 'llm'] as const;
export type ProjectKind = (typeof projectKinds)[number];
export const vendorKinds = [...projectKinds, 'chat'] as const;
export type VendorKind = (typeof vendorKinds)[number];

export interface VendorProfile {
  /** Display name of the vendor. */
  title: string;
  /** Kinds of connectors that the vendor offers. */
  kinds: readonly VendorKind[];
  /** Description of the vendor in the GraphQL schema. */
  about: string;
  /** Base URL of the API without a trailing slash; null for the built-in vendor, which has no API. A setting may replace it. */
  address: string | null;
  /** Whether other operators' servers offer the vendor's API, at URLs of their own. */
  hasOtherServers?: true;
  /** Describes the vendor's tracker, in which a project can keep its issues. Set only if the vendor offers a tracker. */
  tracker?: string;
  /** Descriptions of the events that hooks of the vendor receive, and of their signature; only for a vendor whose events are read. */
  hook?: { about: string; signature: string };
  /** Like `hook`, but for a chat vendor. The hook of a chat belongs to the connection of the chat, and cannot be changed separately. */
  chat?: { about: string; signature: string };
}

type All = typeof vendorProfiles;
export type Vendor = keyof All;
/** Vendors that offer connectors of the kind `K`. */
export type VendorOf<K extends VendorKind> = { [V in Vendor]: K extends All[V]['kinds'][number] ? V : never }[Vendor];
/** Vendors whose events the service receives by webhook. */
export type EventVendor = { [V in Vendor]: All[V] extends { hook: object } ? V : never }[Vendor];
/** Vendors of language models. */
export type ModelVendor = VendorOf<'llm'>;

export const profiles: Readonly<Record<Vendor, VendorProfile>> = vendorProfiles;
type List<T> = readonly [T, ...T[]];
export const vendorNames = Object.keys(vendorProfiles) as unknown as List<Vendor>;
export const vendorsOf = <K extends VendorKind>(kind: K): List<VendorOf<K>> =>
  vendorNames.filter((name) => profiles[name].kinds.includes(kind)) as unknown as List<VendorOf<K>>;
export const eventVendors = vendorNames.filter((name) => profiles[name].hook) as unknown as List<EventVendor>;
export const chatVendors = vendorsOf('chat');
/** The kinds of connector that the vendor offers. */
export const kindsOf = (vendor: Vendor): readonly VendorKind[] => profiles[vendor].kinds;

/** The kinds of connector that the vendor offers for projects; a chat is not one of them, because it belongs to the organization. */
export const projectKindsOf = (vendor: Vendor): ProjectKind[] =>
  projectKinds.filter((kind) => kindsOf(vendor).includes(kind));

/**
 * `model:` followed by the id of a language model that is not in the catalog. For such a model, this text takes the place of the vendor's
 * name, because the model is served by the connectors that list its id.
 */
export type NamedModel = `model:${string}`;
export type ModelProvider = ModelVendor | NamedModel;

/** Prices in US dollars per million tokens. */
export interface ModelPrices {
  input: number;
  output: number;
  /** Price of tokens that are read from the vendor's cache; absent means the input price. */
  cacheRead?: number | null | undefined;
  /** Price of tokens that are written to the cache; absent means the input price. */
  cacheWrite?: number | null | undefined;
}

/** A model that the server of a connector offers. */
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
  /** Name or id at the vendor: of an organization, a workspace or an account. */
  externalOrgId: column<string | null>(),
  displayName: column<string>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  /** When the vendor was first seen to reject the credentials; null while no rejection is known. */
  brokenSince: column<number | null>(),
  /** Base URL of a server other than the vendor's own, without a trailing slash; null means the vendor's own server. */
  baseUrl: column<string | null>(),
  /** Whether credentials are set; false again once they are revoked. */
  hasCredentials: column<boolean>(),
  /** When the credentials were last checked with the vendor; null means that they have not been checked since they were set. */
  checkedAt: column<number | null>(),
  /** The reason that the check failed; null means it passed. */
  checkFailure: column<string | null>(),
  /** Calls are paused until this time, because of the vendor's rate limit; null before the first rate limit. */
  pausedUntil: column<number | null>(),
  /** Models of a connector of the kind `llm`. No two connectors of an organization list the same model id. */
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
  /** The access token that the vendor has issued for the credentials, sealed (./tokens.ts). */
  declare sealedToken?: string | null;
}
