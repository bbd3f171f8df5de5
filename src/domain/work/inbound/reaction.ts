// Reacts to the issue or comment of an event that has started or continued a mission, so that its author sees within seconds that it was
// heard. A refusal by the host is recorded on the delivery.
import { sql } from '#foundation/postgres/database.ts';
import { hostOf } from '../../projects/repositories/choose.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import { isUsed } from './events/event.ts';
import { readEvent } from './events/read.ts';
import { projectsOf } from './match.ts';
import { InboundDelivery } from './model.ts';

const noteSql = `update inbound_deliveries set reason = concat_ws(' ', reason, $2::text) where id = $1`;

/** @throws an error after which another attempt may succeed */
export async function reactToEvent({ deliveryId }: { deliveryId: string }): Promise<void> {
  const delivery = await InboundDelivery.find({ id: deliveryId });
  const hook = delivery && (await InboundHook.find({ id: delivery.hookId }));
  const event = hook && readEvent({ ...hook, enabled: true }, delivery);
  if (!event || !isUsed(event) || event.reactsTo === null) return;
  const [project] = await projectsOf(delivery.orgId, event);
  if (!project) return;
  try {
    const { host } = await hostOf(project);
    await host.react?.(project, event.reactsTo);
  } catch (error) {
    if (!isFinal(error)) throw error;
    await sql(noteSql, [deliveryId, `No reaction was added: ${error.body.description}`]);
  }
}
