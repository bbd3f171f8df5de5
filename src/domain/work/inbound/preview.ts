// Previews a rule: applies it to events that have already arrived, and starts no mission. The events pass through the same code as new events.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { sql } from '#foundation/postgres/database.ts';
import { eventVendors } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { isUsed } from '../../projects/vendors/event.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { inboundPreview } from '../inbound-hooks/bounds.ts';
import { withinOneLimit } from '../inbound-hooks/expressions.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import { findHook } from '../inbound-hooks/operations.ts';
import type { EventKind, EventTrigger } from '../recurring/model.ts';
import { textFor } from './admission.ts';
import { readEvent } from './events/read.ts';
import { isAbout, keyOf, mismatch, openHostFilter } from './match.ts';
import { InboundDelivery } from './model.ts';

export interface Preview {
  delivery: InboundDelivery;
  /** Reason why the event does not match the rule; null means it matches. */
  reason: string | null;
  key: string | null;
  text: string | null;
}

export interface PreviewRequest {
  trigger: EventTrigger;
  projectId?: string | undefined;
  /** The delivery to evaluate; absent means the newest deliveries that the rule may concern. */
  deliveryId?: string | undefined;
}

/**
 * Computes what the rule would do with each delivery; the newest delivery comes first. @throws 404 for a project, hook or delivery of another
 * organization
 */
export async function previewTrigger(
  caller: Caller,
  { trigger, projectId, deliveryId }: PreviewRequest,
): Promise<Preview[]> {
  const orgId = wholeOrganization(caller);
  if (trigger.hookId != null) await findHook(caller, trigger.hookId);
  const project = projectId === undefined ? null : await Project.get({ id: projectId, orgId });
  const deliveries =
    deliveryId === undefined
      ? await newestFor(orgId, trigger)
      : [await InboundDelivery.get({ id: deliveryId as never, orgId })];
  const hooks = await InboundHook.findByKeys('id', [...new Set(deliveries.map(({ hookId }) => hookId))]);
  const isOfHost = await openHostFilter(orgId);
  return withinOneLimit(() =>
    deliveries.flatMap((delivery) => {
      const hook = hooks.find(({ id }) => id === delivery.hookId);
      if (!hook) return [];
      const event = readEvent(hook, delivery);
      const isOther = project !== null && !isOfHost(project, hook.vendor, event);
      return { delivery, ...(isOther ? refused(otherHost) : effectOf(trigger, project, hook, event)) };
    }),
  );
}

const refused = (reason: string) => ({ reason, key: null, text: null });
const otherHost = 'The repository of the project is at another source host.';

function effectOf(
  trigger: EventTrigger,
  project: Project | null,
  hook: InboundHook,
  event: ReturnType<typeof readEvent>,
): Omit<Preview, 'delivery'> {
  if (!isUsed(event)) return refused(event.reason);
  if (project && !isAbout(event, project))
    return refused(`The event is about ${event.repository ?? 'another project'}, not about this project.`);
  const found = mismatch(trigger, hook.id, event);
  if (found) return refused(`${found.reason[0]!.toUpperCase()}${found.reason.slice(1)}.`);
  return { reason: null, key: keyOf(trigger, event), text: textFor(event, trigger) };
}

const newestIdsSql = `select id from (
    select id, event, created_at from inbound_deliveries
    where org_id = $1 and ($2::text is null or hook_id = $2) and payload is not null
    order by created_at desc, id desc limit ${inboundPreview.searched}) newest
  where $3::text[] is null or split_part(event, '.', 1) = any($3)
  order by created_at desc, id desc limit ${inboundPreview.deliveries}`;
async function newestFor(orgId: string, { kind, hookId }: EventTrigger): Promise<InboundDelivery[]> {
  const ids = await sql<{ id: string }>(newestIdsSql, [orgId, hookId ?? null, namesOf(kind)]);
  const found = await InboundDelivery.findByKeys(
    'id',
    ids.map(({ id }) => id),
  );
  return ids.flatMap(({ id }) => found.find((one) => one.id === id) ?? []);
}

/** Names of the events of a kind; null means any. */
const namesOf = (kind: EventKind): readonly string[] | null =>
  kind === 'webhook' ? null : eventVendors.flatMap((vendor) => moduleOf(vendor).events!.namesOfKind[kind] ?? []);
