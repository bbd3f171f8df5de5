// Reacts to the issue or comment of an event that has started or continued a mission, so that the author sees within seconds that the event
// was received.
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { notingProblem } from './answer.ts';
import { findEvent } from './events/read.ts';
import { projectsOf } from './match.ts';

/** Adds the reaction. @throws an error after which another attempt may succeed */
export async function reactToEvent({ deliveryId }: { deliveryId: string }): Promise<void> {
  const found = await findEvent(deliveryId);
  if (!found || found.event.reactsTo === null) return;
  const { hook, event } = found;
  const { reactsTo } = event;
  const [project] = await projectsOf(hook.orgId, hook.vendor, event);
  if (!project || reactsTo === null || project.effectPolicy?.waits.includes('comment')) return;
  await notingProblem(deliveryId, 'reaction', async () => {
    const { host } = await hostOf(project);
    await host.react?.(project, reactsTo);
  });
}
