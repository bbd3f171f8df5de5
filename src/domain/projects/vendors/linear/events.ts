// Events from Linear (linear.app/developers/webhooks) that triggers can use. Their shapes are the webhook payloads of its published schema.
import { z } from 'zod';
import { minutes, now } from '#foundation/clock.ts';
import { invalid, unauthenticated } from '#foundation/problem.ts';
import type { EventPayload, EventSource, InboundEvent, UnusedEvent } from '../event.ts';
import { newMentions, noDetails, type ReadPayload, readableBy, readerOf, wordIn } from '../event-reader.ts';
import { textOfIssue } from '../issue-text.ts';
import { signatureInHeader } from '../signature.ts';
import { foundIssue, IssuePart, PersonPart } from './event-shapes.ts';
import { isRecordId } from './ids.ts';
import { readSessionEvent, sessionEventName } from './session-events.ts';

/** The allowed difference between the time in a payload and the time of this service, as Linear recommends. */
const ageMs = minutes(1);

const Actor = z.object({
  type: z.string(),
  name: z.string().nullish(),
  service: z.string().nullish(),
  email: z.string().nullish(),
});

const IssueEvent = z.object({
  action: z.string(),
  actor: Actor.nullish(),
  data: IssuePart.extend({
    description: z.string().nullish(),
    updatedAt: z.string(),
    labels: z.array(z.object({ id: z.string(), name: z.string() })),
    assignee: PersonPart.nullish(),
  }),
  updatedFrom: z
    .object({ labelIds: z.array(z.string()).nullish(), assigneeId: z.unknown() })
    .partial()
    .nullish(),
});
const CommentEvent = z.object({
  action: z.string(),
  actor: Actor.nullish(),
  data: z.object({ id: z.string(), body: z.string(), issue: IssuePart.nullish() }),
  updatedFrom: z.object({ body: z.string().nullish() }).nullish(),
});

/** An actor of the type `user` is a person; any other actor is a program, such as an integration or an OAuth application. */
const authorOf = (actor: z.infer<typeof Actor> | null | undefined): InboundEvent['author'] =>
  actor
    ? {
        id: null,
        login: actor.name ?? actor.service ?? actor.type,
        isBot: actor.type.toLowerCase() !== 'user',
        email: actor.email ?? null,
      }
    : { id: null, login: 'Linear', isBot: true };

const readers: Readonly<Record<string, ReadPayload>> = {
  Issue: readerOf(IssueEvent, readIssue),
  Comment: readerOf(CommentEvent, readComment),
  [sessionEventName]: readSessionEvent,
};

function readIssue({
  action,
  actor,
  data,
  updatedFrom,
}: z.infer<typeof IssueEvent>): Omit<InboundEvent, 'payload'> | UnusedEvent {
  const title = `${data.title} (${data.identifier})`;
  if (isRecordId(data.id)) return { reason: 'The issue was written by a mission.', title };
  const isNew = action === 'create';
  if (!isNew && action !== 'update') return { reason: `The action ${action} on an issue starts nothing.`, title };
  const before = isNew ? [] : (updatedFrom?.labelIds ?? null);
  const labels = before === null ? [] : data.labels.filter(({ id }) => !before.includes(id)).map(({ name }) => name);
  const isAssigned = data.assignee != null && (isNew || updatedFrom?.assigneeId !== undefined);
  if (!isNew && labels.length === 0 && !isAssigned) {
    return { reason: 'The issue got no label and no assignee.', title };
  }
  const about = foundIssue(data, data.description ?? '');
  return {
    ...noDetails,
    kind: 'issue',
    action: isNew ? 'opened' : labels.length > 0 ? 'labeled' : 'assigned',
    repository: null,
    team: data.team,
    title,
    author: authorOf(actor),
    issue: about,
    labels,
    assignees: isAssigned ? [data.assignee!.email] : [],
    text: textOfIssue(about),
    key: `issue ${data.id} ${action} ${data.updatedAt}`,
  };
}

function readComment({
  action,
  actor,
  data,
  updatedFrom,
}: z.infer<typeof CommentEvent>): Omit<InboundEvent, 'payload'> | UnusedEvent {
  const { id, body, issue } = data;
  if (!issue) return { reason: 'The comment is not about an issue.' };
  const title = `Comment on ${issue.title} (${issue.identifier})`;
  if (isRecordId(id)) return { reason: 'The comment was written by a mission.', title };
  if (action !== 'create' && action !== 'update')
    return { reason: `The action ${action} on a comment starts nothing.`, title };
  const author = authorOf(actor);
  const about = foundIssue(issue, '', [{ author: author?.login ?? '', text: body }]);
  return {
    ...noDetails,
    kind: 'comment',
    action: action === 'create' ? 'created' : 'edited',
    repository: null,
    team: issue.team,
    title,
    author,
    issue: about,
    // Only a changed text can contain new mentions.
    words: newMentions(body, action === 'create' ? '' : (updatedFrom?.body ?? body)),
    text: textOfIssue(about),
    // An edit counts as an event only when it mentions somebody whom the comment did not mention before.
    key: `comment ${id}`,
  };
}

/** Starts the verification of a request's signature. @throws 401 */
function verifyTime({ webhookTimestamp: time }: EventPayload): void {
  if (typeof time !== 'number' || Math.abs(now() - time) > ageMs) {
    throw unauthenticated.field('webhookTimestamp', 'must be the current time in milliseconds, at most a minute off');
  }
}

export const linearEvents: EventSource = {
  signature: (secret, headers) => ({
    ...signatureInHeader('Linear-Signature', secret, headers),
    verifyPayload: verifyTime,
  }),
  secretHeaders: ['linear-signature'],
  idHeader: 'linear-delivery',
  nameOf(_, { type, action }) {
    const name = wordIn(type);
    if (!name) throw invalid.field('type', 'must be the name of an entity');
    const did = wordIn(action);
    return did ? `${name}.${did}` : name;
  },
  namesOfKind: { issue: ['Issue'], comment: ['Comment'], pullRequest: [], check: [], session: [sessionEventName] },
  acceptedStatus: 200,
  ...readableBy(readers),
};
