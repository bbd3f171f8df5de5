// Converts a stored delivery to an event that can be matched against triggers.
import {
  type EventPayload,
  type EventSource,
  type InboundEvent,
  isUsed,
  type UnusedEvent,
} from '../../../projects/vendors/event.ts';
import { moduleOf } from '../../../projects/vendors/registry.ts';
import { InboundHook } from '../../inbound-hooks/model.ts';
import { InboundDelivery } from '../model.ts';
import { type BuiltinPayload, readBuiltinEvent } from './builtin.ts';
import { readWebhookEvent } from './webhook.ts';

export function readEvent(
  { vendor, enabled }: InboundHook,
  { event: name, payload }: InboundDelivery,
): InboundEvent | UnusedEvent {
  const [kind] = name.split('.', 1) as [string];
  if (!enabled) return { reason: 'The hook is disabled.' };
  if (payload === null) return { reason: `No trigger uses the event ${kind}.` };
  const value = JSON.parse(payload) as unknown;
  if (vendor === 'builtin') return readBuiltinEvent(value as BuiltinPayload);
  const { events } = vendor === 'webhook' ? { events: null } : moduleOf(vendor);
  if (events === undefined) return { reason: 'Rules do not apply to events of a chat.' };
  const event =
    events === null
      ? readWebhookEvent(name, value)
      : { ...events.read(kind, value), ...repositoryIn(events, value as EventPayload) };
  return 'kind' in event && event.author?.isBot
    ? { reason: `${event.author.login} is a program.`, title: event.title, session: event.session }
    : event;
}

function repositoryIn({ pageOf, repositoryIdOf }: EventSource, payload: EventPayload) {
  const server = hostIn(pageOf?.(payload));
  const id = repositoryIdOf?.(payload);
  return { server, repositoryKey: server && Number.isSafeInteger(id) ? `${server} ${id}` : undefined };
}

const hostIn = (address: unknown): string | undefined =>
  typeof address === 'string' && URL.canParse(address) ? new URL(address).host : undefined;

/** The event of a delivery, even when its hook has been disabled since; null when triggers cannot use the event. */
export async function findEvent(deliveryId: string): Promise<{ hook: InboundHook; event: InboundEvent } | null> {
  const delivery = await InboundDelivery.find({ id: deliveryId });
  const hook = delivery && (await InboundHook.find({ id: delivery.hookId }));
  const event = hook && readEvent({ ...hook, enabled: true }, delivery);
  return hook && event && isUsed(event) ? { hook, event } : null;
}
