// Decides whether the author of an event may start a mission, and collects the text and issue for the mission. The tracker and the source
// host are called, so this runs before the transaction that starts the mission.
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { toProblem } from '#foundation/problem.ts';
import { trackerTriggersOf } from '../../money/billing/requests.ts';
import { memberBehind } from '../../projects/host-accounts/operations.ts';
import type { Project } from '../../projects/projects/model.ts';
import type { InboundEvent } from '../../projects/vendors/event.ts';
import { textOfIssue } from '../../projects/vendors/issue-text.ts';
import { mayWriteTo, writeRefusal } from '../../projects/vendors/source-host-of.ts';
import type { CreatedIssue } from '../../projects/vendors/tracker.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { startsOfIssue } from '../inbound-hooks/bounds.ts';
import { render } from '../inbound-hooks/expressions.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import type { EventTrigger } from '../recurring/model.ts';
import { runIdOf } from '../runs/branch.ts';
import { Run } from '../runs/model.ts';
import { countStarts } from '../runs/operations.ts';
import { withLogs } from './host-changes.ts';
import type { RuleMatch } from './match.ts';

/** The person who approved the event; null when it needed no approval. */
export type Approver = Id<'person'> | null;

/** A mission that an event may start, or the reason why the event must not start it. */
export interface Ready extends RuleMatch {
  text: string;
  issue: CreatedIssue | null;
  /** The sandbox template for all agents of the mission; null means that each agent uses its own. */
  sandboxTemplateId: string | null;
  /** The person to bill: the person who approved the event, else the member who caused it; null means the person who last set the rule. */
  actor: Approver;
  refusal: { result: 'waiting' | 'ignored'; reason: string } | null;
}

/** Decides whether the event may start a mission by this rule. @throws retryable Problems of the tracker or the source host */
export async function admitEvent(
  { vendor }: InboundHook,
  event: InboundEvent,
  match: RuleMatch,
  approvedBy: Approver,
): Promise<Ready> {
  // Some trackers identify the member in the event itself. Source hosts only identify an account, which may be linked to a member.
  const member =
    event.author?.userId ?? (event.repository === null ? null : await memberBehind(match.project, event.author));
  const plain: Ready = {
    ...match,
    text: '',
    issue: null,
    sandboxTemplateId: null,
    actor: approvedBy ?? member,
    refusal: null,
  };
  const refusal = await refusalOf(event, match, { approvedBy, member });
  if (refusal) return { ...plain, refusal };
  plain.text = textFor(match.trigger.template ? event : await withLogs(match.project, event), match.trigger);
  plain.sandboxTemplateId = await outsiderTemplateOf(event, match, member);
  if (!event.issue || match.project.tracker !== vendor) return plain;
  // The event of an agent session already contains the issue with its context. The tracker is not called, because people wait for the first
  // answer.
  if (event.session) return { ...plain, issue: event.issue };
  try {
    const { id, url, ...words } = await trackerOf(match.project).findIssue(match.project, event.issue.id);
    const text = match.trigger.template
      ? plain.text
      : [textOfIssue({ id, url, ...words }), askedIn(event)].join('\n\n');
    return { ...plain, text: text.trim(), issue: { id, url } };
  } catch (error) {
    // A permanent error of the tracker does not stop the mission, because the event contains the issue's text.
    if (toProblem(error).body.retryable) throw error;
    return { ...plain, issue: event.issue };
  }
}

/** Quotes the comment that mentions the agent, because the text contains all comments of the issue. */
const askedIn = ({ kind, issue }: InboundEvent): string =>
  kind === 'comment'
    ? `This comment started the mission:\n${issue!.comments[0]!.text.slice(0, 5_000).toWellFormed()}`
    : '';

/** Text of the event for the agent. */
export const textFor = ({ text, payload, author }: InboundEvent, trigger: EventTrigger): string => {
  const words = trigger.template ? render(trigger.template, payload).slice(0, 12_000).replaceAll('\0', '') : text;
  return author ? `Event by ${author.login}.\n\n${words}` : words;
};

/**
 * The template for missions of outsiders; null for a member's event. An approval does not change it, because the text remains untrusted.
 */
async function outsiderTemplateOf(
  { author, repository }: InboundEvent,
  { project, trigger }: RuleMatch,
  member: Approver,
): Promise<string | null> {
  const { outsiderTemplateId = null } = trigger;
  if (outsiderTemplateId === null || member !== null) return null;
  const isKnown = author !== null && repository !== null && (await mayWriteTo(project, author.login));
  return isKnown ? null : outsiderTemplateId;
}

async function refusalOf(
  event: InboundEvent,
  { project, trigger, mission }: RuleMatch,
  people: People,
): Promise<Ready['refusal']> {
  const { kind, action, branch } = event;
  const isByMission = kind === 'check' || (kind === 'pullRequest' && action === 'opened');
  if (isByMission && branch !== null && (await isOfRun(project, branch))) {
    return { result: 'ignored', reason: `The branch ${branch} was created by a mission.` };
  }
  if (kind === 'webhook') return null;
  const refusal = await authorRefusal(event, project, { from: trigger.from, ...people });
  return refusal ?? (people.approvedBy === null ? repetition(event, mission.id) : null);
}

/** Agents that write with a person's account can answer each other endlessly, so further starts need the decision of a person. */
async function repetition({ issue, number }: InboundEvent, recurringId: string): Promise<Ready['refusal']> {
  const { starts, withinMs } = startsOfIssue;
  const place = { issueId: issue?.id ?? null, originNumber: number };
  if ((await countStarts(recurringId, place, now() - withinMs)) < starts) return null;
  const reason = `The rule has started ${starts} missions on this issue within a day: agents may be answering each other.`;
  return { result: 'waiting', reason };
}

export interface People {
  approvedBy: Approver;
  /** The member who caused the event; null for an outsider. */
  member: Approver;
}

/** The reason why the author of an event cannot start missions in the project, or can start them only after an approval; null when there is none. */
export async function authorRefusal(
  { author, repository }: Pick<InboundEvent, 'author' | 'repository'>,
  project: Project,
  { from, approvedBy, member }: People & { from: EventTrigger['from'] },
): Promise<Ready['refusal']> {
  const policy = await trackerTriggersOf(project.orgId);
  if (policy === 'off') {
    return { result: 'ignored', reason: 'The billing settings do not allow missions from events of trackers.' };
  }
  if (approvedBy !== null || author === null || author.userId) return null;
  const waiting = (reason: string) => ({ result: 'waiting' as const, reason });
  const isUnknown = `${author.login} is not known as a member of the organization.`;
  if (member === null && (policy === 'members' || from === 'members')) return waiting(isUnknown);
  if (from !== 'writers') return null;
  // Login names of the tracker are not login names of the source host, so the author's access cannot be checked.
  if (repository === null) return waiting(isUnknown);
  const reason = await writeRefusal(project, author.login);
  return reason === null ? null : waiting(reason);
}

/**
 * Whether the branch belongs to a run. The name is also compared, because a pull request may be reported before the run has recorded its
 * branch.
 */
const isOfRun = async ({ id: projectId }: Project, branch: string): Promise<boolean> =>
  Boolean((await Run.find({ projectId, branch })) ?? (await Run.find({ projectId, id: runIdOf(branch) as never })));
