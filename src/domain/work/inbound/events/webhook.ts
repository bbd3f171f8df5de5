// Events of systems without a module of their own: the filter, key and template of a rule interpret the payload.
import type { InboundEvent } from '../../../projects/vendors/event.ts';
import { noDetails } from '../../../projects/vendors/event-reader.ts';

export const readWebhookEvent = (event: string, payload: unknown): InboundEvent => ({
  ...noDetails,
  kind: 'webhook',
  action: event,
  repository: null,
  title: event,
  author: null,
  issue: null,
  text: `Event ${event}:\n\n${JSON.stringify(payload, null, 1).slice(0, 12_000).toWellFormed()}`,
  key: null,
  payload,
});
