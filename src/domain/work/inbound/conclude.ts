// Writes the outcome of an event that changes nothing else.
import { now } from '#foundation/clock.ts';
import { type DeliveryStatus, InboundDelivery } from './model.ts';

/** Does nothing when another process has already processed the delivery. */
export async function concludeDelivery(
  id: string,
  status: DeliveryStatus,
  reason: string,
  title: string | null = null,
): Promise<void> {
  const changes = { status, reason, title, processedAt: now() };
  await InboundDelivery.patch(undefined, { id: id as never, status: 'received' }, changes);
}
