// Reacts to the issue or comment of an event that has started or continued a mission, so that its author sees within seconds that it was
// heard.

import { isUsed } from '../../projects/vendors/event.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import { notingProblem } from './answer.ts';
import { readEvent } from './events/read.ts';
import { projectsOf } from './match.ts';
import { InboundDelivery } from './model.ts';

/** @throws an error after which another attempt may succeed */
export async function reactToEvent({ deliveryId }: { deliveryId: string }): Promise<void> {
  const delivery = await InboundDelivery.find({ id: deliveryId });
  const hook = delivery && (await InboundHook.find({ id: delivery.hookId }));
  const event = hook && readEvent({ ...hook, enabled: true }, delivery);
  if (!event || !isUsed(event) || event.reactsTo === null) return;
  const { reactsTo } = event;
  const [project] = await projectsOf(delivery.orgId, event);
  if (!project) return;
  await notingProblem(delivery.id, 'reaction', async () => {
    const { host } = await hostOf(project);
    await host.react?.(project, reactsTo);
  });
}
