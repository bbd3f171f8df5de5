// Notices about failing deliveries of the audit log and of webhooks.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { isoTime, minutes, now } from '#foundation/clock.ts';
import { AuditStream } from '../../audit/stream/model.ts';
import { listDisabledEndpoints } from '../../webhooks/operations.ts';
import { type Condition, inQuotes } from '../model.ts';

/** Time for which deliveries of the audit log must fail before they cause a notice. */
const streamFailsMs = minutes(15);

/** A destination that is only briefly unavailable causes no notice. */
export async function failingAuditStream(caller: Caller): Promise<Condition[]> {
  const stream = await AuditStream.find({ orgId: ownOrganization(caller) as AuditStream['orgId'] });
  const since = stream?.failingSince;
  if (!stream || !since || now() - since < streamFailsMs) return [];
  return [
    {
      id: `audit_stream_failing:${since}`,
      kind: 'action',
      title: 'The audit log does not arrive at its destination',
      body: `${stream.address} has accepted nothing since ${isoTime(since)}. ${stream.lastError} Missing events are sent once it accepts events again.`,
      page: '/audit',
      createdAt: since,
    },
  ];
}

export const disabledWebhooks = async (caller: Caller): Promise<Condition[]> =>
  (await listDisabledEndpoints(ownOrganization(caller))).map(({ id, name, disabledAt, disabledReason }) => ({
    id: `webhook_disabled:${id}:${disabledAt}`,
    kind: 'action',
    title: `The webhook ${inQuotes(name)} is disabled`,
    body: `${disabledReason === 'gone' ? 'Its receiver answered with 410.' : 'All attempts in five days failed.'} Enable it once the receiver works: it continues where it stopped.`,
    page: `/webhooks/${id}`,
    createdAt: disabledAt!,
  }));
