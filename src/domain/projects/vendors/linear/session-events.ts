// Events in Linear's agent sessions: somebody delegates an issue to the application or mentions it, writes in the session, or stops the
// work.
import { z } from 'zod';
import type { SessionEvent } from '../agent-session.ts';
import type { InboundEvent, UnusedEvent } from '../event.ts';
import { noDetails, readerOf } from '../event-reader.ts';
import { textOfIssue } from '../issue-text.ts';
import { foundIssue, IssuePart, PersonPart } from './event-shapes.ts';

export const sessionEventName = 'AgentSessionEvent';

/** Maximum number of characters of the context for the agent. */
const maxContextCharacters = 12_000;

const Payload = z.object({
  action: z.string(),
  appUserId: z.string(),
  promptContext: z.string().nullish(),
  agentSession: z.object({
    id: z.string(),
    creator: PersonPart.nullish(),
    comment: z.object({ body: z.string() }).nullish(),
    issue: IssuePart.extend({ description: z.string().nullish() }).nullish(),
  }),
  agentActivity: z
    .object({
      id: z.string(),
      // According to Linear's documentation, the text is in `body`; according to its published schema, the text is in `content`.
      body: z.string().nullish(),
      content: z.object({ body: z.string().nullish() }).nullish(),
      signal: z.string().nullish(),
      user: PersonPart.nullish(),
    })
    .nullish(),
});
type Payload = z.infer<typeof Payload>;

/** Sessions without a person were created by automations or other agents. */
const authorOf = (person: z.infer<typeof PersonPart> | null | undefined): NonNullable<InboundEvent['author']> =>
  person
    ? { id: null, login: person.name, isBot: false, email: person.email }
    : { id: null, login: 'Linear', isBot: true };

export const readSessionEvent = readerOf(Payload, read);

function read(event: Payload): Omit<InboundEvent, 'payload'> | UnusedEvent {
  const { action, agentSession, agentActivity, promptContext } = event;
  const session = sessionOf(event);
  if (!session) return { reason: `The action ${action} on a session starts nothing.` };
  const { issue, creator, comment } = agentSession;
  const words = { created: comment ? 'Mention' : 'Delegation', prompted: 'Message', stop: 'Stop' }[session.action];
  const title = `${words}: ${issue ? `${issue.title} (${issue.identifier})` : 'no issue'}`;
  if (!issue)
    return { reason: 'The session is about no issue: delegate one, or mention the agent on one.', title, session };
  const author = authorOf(session.action === 'created' ? creator : agentActivity?.user);
  const comments = session.text ? [{ author: author.login, text: session.text }] : [];
  const about = foundIssue(issue, issue.description ?? '', comments);
  const context = promptContext?.replaceAll('\0', '').slice(0, maxContextCharacters).toWellFormed();
  return {
    ...noDetails,
    kind: 'session',
    action: session.action,
    repository: null,
    team: issue.team,
    title,
    author,
    issue: about,
    text: context || textOfIssue(about),
    key: `session ${session.id}`,
    session,
  };
}

function sessionOf({ action, appUserId: agentId, agentSession, agentActivity }: Payload): SessionEvent | null {
  const { id, comment } = agentSession;
  if (action === 'created') return { id, agentId, action, messageId: id, text: comment?.body ?? '' };
  if (action !== 'prompted' || !agentActivity) return null;
  const { id: messageId, signal } = agentActivity;
  if (signal === 'stop') return { id, agentId, action: 'stop', messageId, text: '' };
  return { id, agentId, action, messageId, text: agentActivity.content?.body ?? agentActivity.body ?? '' };
}
