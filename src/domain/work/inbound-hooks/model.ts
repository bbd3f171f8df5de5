// A hook: a URL to which another system sends signed events (docs/triggers.md).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { chatVendors, eventVendors } from '../../projects/integrations/model.ts';

/**
 * Systems whose events a hook can receive. `builtin` is the built-in tracker, whose events this service creates; `webhook` means any other
 * system.
 */
export const hookVendors = [...eventVendors, ...chatVendors, 'builtin', 'webhook'] as const;
/** Signature schemes of hooks: the vendor's own, Standard Webhooks, or a header with the HMAC-SHA256 of the body. */
export const hookSignatures = [...eventVendors, ...chatVendors, 'standard', 'header'] as const;
export type HookSignature = (typeof hookSignatures)[number];

export class InboundHook extends table('inbound_hooks', {
  id: column<Id<'inboundHook'>>(),
  orgId: column<Id<'organization'>>(),
  name: column<string>(),
  /** The system whose events the hook understands; `webhook` means any. */
  vendor: column<(typeof hookVendors)[number]>(),
  signature: column<HookSignature>(),
  /** The header with the signature; null unless `signature` is `header`. */
  signatureHeader: column<string | null>(),
  /** Whether events of the hook are processed; events of a disabled hook are stored but start nothing. */
  enabled: column<boolean>(),
  /** The integration to which the hook belongs; null for a hook that a person has created. */
  integrationId: column<Id<'integration'> | null>(),
  createdByUserId: column<Id<'person'> | null>(),
  /** When the last event with a valid signature arrived; null before the first. */
  lastDeliveryAt: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'inbound hook';
  static visibleTo = orgWide;

  /** The sealed secret, which is not a column, so that no read returns it. */
  declare sealedSecret?: string;
}
