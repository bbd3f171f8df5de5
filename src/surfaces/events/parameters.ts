// The parameters of the events feed.
import { z } from 'zod';
import { eventTypeRule, eventTypes, isEventType } from '#domain/lifecycle/audit/event-types.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { invalid } from '#foundation/problem.ts';
import { parsed } from '#graph/projection/arguments.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';

/** Maximum seconds that a request may wait for an event. */
export const maxWaitSeconds = 30;
export const FeedParameters = z.object({
  after: z
    .int()
    .min(0)
    .optional()
    .describe(
      'The number of the last event that you know: the response has the events after it. 0 begins with the oldest event. Without a ' +
        'number, the feed begins with the next event.',
    ),
  types: z
    .array(boundedText(eventTypes.length).refine(isEventType, eventTypeRule))
    .max(eventTypes.max)
    .default([])
    .describe(
      `At most ${eventTypes.max} types, separated by commas: \`run.completed\`, or \`run.*\` for all types of a noun. Without it, all events.`,
    ),
  projectId: boundedText(text.pathId).optional().describe('Only events of this project and of its records.'),
  limit: z
    .int()
    .min(pages.other.min)
    .max(pages.other.max)
    .default(pages.other.default)
    .describe('Maximum number of events in the response. A stream has no end and ignores this parameter.'),
  wait: z
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .default(0)
    .describe('Seconds to wait for an event if there is none yet. A stream ignores this parameter.'),
});
export type FeedParameters = z.infer<typeof FeedParameters>;

const numbers = ['after', 'limit', 'wait'] as const;

/** Reads the parameters. @throws 400 naming each invalid parameter and its requirement */
export function readFeedParameters({ search, req }: Exchange): FeedParameters {
  const query = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  for (const name of [...numbers, 'projectId']) {
    const [first, second] = query.getAll(name);
    if (second !== undefined) throw invalid.field(name, 'must not be repeated');
    if (first !== undefined) values[name] = first;
  }
  const types = query.getAll('types').flatMap((list) => list.split(','));
  if (types.length > 0) values.types = types;
  for (const name of numbers) if (name in values) values[name] = integer(name, values[name] as string);
  // A browser that reconnects sends the query of its first request and, as a header, the number of the last event (WHATWG HTML, section
  // 9.2.4).
  const last = req.headers['last-event-id'];
  if (last) values.after = integer('Last-Event-ID', String(last));
  return parsed(FeedParameters, values);
}

function integer(name: string, value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw invalid.field(name, 'must be an integer');
  return Number(value);
}
