// Events of any other system: the filter, key and template of a rule interpret the payload.
import type { InboundEvent } from '../../../projects/vendors/event.ts';

export const readWebhookEvent = (event: string, payload: unknown): InboundEvent => ({
  kind: 'webhook',
  action: event,
  repository: null,
  title: event,
  author: null,
  issue: null,
  labels: [],
  assignees: [],
  words: '',
  branch: null,
  remark: null,
  number: null,
  reactsTo: null,
  ciRun: null,
  text: `Event ${event}:\n\n${JSON.stringify(payload, null, 1).slice(0, 12_000).toWellFormed()}`,
  key: null,
  payload,
});
