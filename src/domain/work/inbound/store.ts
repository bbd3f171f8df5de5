// Writes an event that arrived, with the job that processes it. A repeated event is written once.
import type { IncomingHttpHeaders } from 'node:http';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { vendorNames } from '../../projects/integrations/model.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import type { VendorModule } from '../../projects/vendors/vendor.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import type { Approver } from './admission.ts';
import { InboundDelivery } from './model.ts';
import type { DeliveryJob } from './retry.ts';

/** The response to the sender of an event. */
export interface ReceivedAnswer {
  status: number;
  body: object;
}

/** Queues the processing of a delivery. */
export const enqueueDelivery = (
  trx: Transaction,
  { vendor }: InboundHook,
  { id: deliveryId, event }: Pick<InboundDelivery, 'id' | 'event'>,
  approvedBy: Approver = null,
): Promise<void> => {
  const { chat, sessions }: VendorModule = vendor === 'webhook' ? {} : moduleOf(vendor);
  const isOfSession = sessions !== undefined && event.split('.', 1)[0] === sessions.eventName;
  const queue = chat ? 'chat event' : isOfSession ? 'session event' : 'inbound event';
  return enqueue(trx, queue, { deliveryId, approvedBy } satisfies DeliveryJob);
};

export type SentEvent = Pick<InboundDelivery, 'event' | 'externalId' | 'payload'>;

/**
 * Stores an event and returns the id of its delivery; for an event that was delivered before, the id of that delivery. @param refusal
 * Reason why the event is only listed and not processed
 */
export async function storeDelivery(
  hook: InboundHook,
  sent: SentEvent,
  headers: IncomingHttpHeaders,
  refusal: string | null = null,
): Promise<{ deliveryId: string; isNew: boolean }> {
  const at = now();
  const delivery = {
    id: newId('inboundDelivery'),
    orgId: hook.orgId,
    hookId: hook.id,
    ...sent,
    title: null,
    headers: headersToKeep(hook, headers),
    status: refusal === null ? ('received' as const) : ('ignored' as const),
    reason: refusal,
    outcomes: '[]' as never,
    answerProblems: null,
    redeliveryOf: null,
    receivedAt: at,
    processedAt: refusal === null ? null : at,
    createdAt: at,
  };
  const isNew = await transaction(async (trx) => {
    if (!(await InboundDelivery.insertNew(trx, delivery, ['hookId', 'externalId']))) return false;
    await InboundHook.patch(trx, { id: hook.id }, { lastDeliveryAt: at });
    if (refusal === null) await enqueueDelivery(trx, hook, delivery);
    return true;
  });
  if (isNew) return { deliveryId: delivery.id, isNew };
  const { id } = await InboundDelivery.get({ hookId: hook.id, externalId: sent.externalId });
  return { deliveryId: id, isNew };
}

/** The headers without those that authorize a request, because people can read the stored headers. */
function headersToKeep(hook: InboundHook, headers: IncomingHttpHeaders): Record<string, string> {
  const secret = new Set(['authorization', 'proxy-authorization', 'cookie', 'webhook-signature']);
  for (const vendor of vendorNames) {
    const { events, chat } = moduleOf(vendor);
    for (const name of (events ?? chat)?.secretHeaders ?? []) secret.add(name);
  }
  if (hook.signatureHeader) secret.add(hook.signatureHeader.toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      secret.has(name) || value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}
