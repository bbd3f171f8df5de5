// Records the outcome of an event that has no other effect.
import { now } from '#foundation/clock.ts';
import { type DeliveryStatus, InboundDelivery } from './model.ts';

/** Records the outcome of a delivery, unless another process has already processed it. */
export async function concludeDelivery(
  id: string,
  status: DeliveryStatus,
  reason: string,
  title: string | null = null,
): Promise<void> {
  const changes = { status, reason, title, processedAt: now() };
  await InboundDelivery.patch(undefined, { id: id as never, status: 'received' }, changes);
}
