// Decides whether an event matches a trigger. If it does not, the reason is a text that people read on the page that lists the events.
import { ignoringCase } from '#foundation/postgres/reads.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { serverOf } from '../../projects/vendors/addresses.ts';
import type { InboundEvent } from '../../projects/vendors/event.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { evaluate, isTrue } from '../inbound-hooks/expressions.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import type { EventTrigger, RecurringMission } from '../recurring/model.ts';

/** A scheduled task or automation, and the one of its triggers that the event matches. */
export interface RuleMatch {
  mission: RecurringMission;
  project: Project;
  trigger: EventTrigger;
}

const isSame = (one: string, other: string | null): boolean => one.toLowerCase() === other?.toLowerCase();

export function isAbout(
  event: Pick<InboundEvent, 'projectId' | 'team' | 'repository' | 'repositoryKey'>,
  project: Project,
): boolean {
  const { projectId, team, repository } = event;
  const { id, trackerTeamId } = project;
  if (projectId !== undefined) return projectId === id;
  if (team) return [team.id, team.key].some((name) => isSame(name, trackerTeamId));
  return repository === null || isSameRepository(project, repository, event.repositoryKey);
}

/** An id identifies a repository under each of its names, but only on its own server. */
function isSameRepository({ scmOwner, scmRepo, scmRepositoryKey: own }: Project, name: string, key?: string): boolean {
  const isComparable = own && key && own.split(' ')[0] === key.split(' ')[0];
  return isComparable ? own === key : isSame(name, `${scmOwner}/${scmRepo}`);
}

type HookVendor = InboundHook['vendor'];

/**
 * Returns a function that decides whether events of a vendor concern a project. The name of the repository does not suffice, because two
 * hosts may have repositories of the same name. A project without a source host, or with a repository in a folder, accepts events of any
 * host. An event from a server belongs to the connector with that server's URL. If there is no such connector, the event is accepted,
 * because the server may have another name inside its own network.
 */
export async function openHostFilter(
  orgId: string,
): Promise<(project: Project, vendor: HookVendor, event: { server?: string | undefined }) => boolean> {
  const connectors = await Integration.findAll({ orgId: orgId as never, vendorKind: 'scm' });
  return ({ tracker, scmConnectorId }, vendor, { server }) => {
    const own = connectors.find(({ id }) => id === scmConnectorId);
    if (own?.vendor === vendor && server !== undefined && serverOf(own) !== server)
      return !connectors.some((other) => other.vendor === vendor && serverOf(other) === server);
    return vendor === 'webhook' || vendor === own?.vendor || vendor === tracker || !own || !moduleOf(own.vendor).events;
  };
}

/** The projects of the organization that use the repository of the event. */
export async function projectsOf(
  orgId: string,
  vendor: HookVendor,
  event: Pick<InboundEvent, 'repository' | 'server' | 'repositoryKey'>,
): Promise<Project[]> {
  const { repository, repositoryKey } = event;
  if (repository === null) return [];
  const [scmOwner, scmRepo] = repository.split('/').map((one) => ignoringCase(one));
  const named = await Project.findAll({ orgId: orgId as never, scmOwner, scmRepo });
  const known = repositoryKey ? await Project.findAll({ orgId: orgId as never, scmRepositoryKey: repositoryKey }) : [];
  const isOfHost = await openHostFilter(orgId);
  const others = known.filter(({ id }) => !named.some((one) => one.id === id));
  return [...named, ...others].filter((project) => isAbout(event, project) && isOfHost(project, vendor, event));
}

const nouns = {
  issue: 'an issue',
  comment: 'a comment',
  pullRequest: 'a pull request',
  check: 'a check',
  session: 'a session',
  webhook: 'an event',
} as const;

/** Reason why the event does not match the trigger; null if it matches. `isOther` means that the rule is about another kind of event. */
export function mismatch(
  trigger: EventTrigger,
  hookId: string,
  event: InboundEvent,
): { reason: string; isOther: boolean } | null {
  const noun = nouns[event.kind];
  if (trigger.kind !== event.kind) return { reason: `the rule is not about ${noun}`, isOther: true };
  if (trigger.hookId && trigger.hookId !== hookId) return { reason: 'the rule is about another hook', isOther: true };
  const reason = conditionOf(trigger, event) ?? filterOf(trigger, event);
  return reason === null ? null : { reason, isOther: false };
}

function conditionOf({ kind, label, assignee, mention, branch }: EventTrigger, event: InboundEvent): string | null {
  if (kind === 'issue' || kind === 'pullRequest') {
    if (label != null) return differs('label', label, event.labels, event);
    if (assignee != null) return differs('assignee', assignee, event.assignees, event);
    return event.action === 'opened' ? null : `it was ${event.action}, not opened`;
  }
  if (kind === 'comment' && !event.words.split(' ').includes(`@${mention?.toLowerCase()}`)) {
    return `the comment does not mention @${mention}`;
  }
  if (kind === 'check' && branch != null && branch !== event.branch) return `the branch is not ${branch}`;
  return null;
}

function differs(noun: string, wanted: string, found: readonly string[], { action }: InboundEvent): string | null {
  if (found.some((one) => isSame(one, wanted))) return null;
  return found.length === 0
    ? `it was ${action}, and the rule waits for the ${noun} ${wanted}`
    : `the ${noun} ${found.join(', ')} is not ${wanted}`;
}

function filterOf({ filter }: EventTrigger, { payload }: InboundEvent): string | null {
  if (filter == null) return null;
  try {
    return isTrue(evaluate(filter, payload)) ? null : 'the filter does not match';
  } catch (error) {
    return `the filter failed: ${(error as Error).message.slice(0, 200)}`;
  }
}

/** Deduplication key: of several events with the same key only the first counts. Null means that every event counts. */
export function keyOf({ key }: EventTrigger, event: InboundEvent): string | null {
  if (key == null) return event.key;
  try {
    const value = evaluate(key, event.payload);
    return value === null ? event.key : `key ${JSON.stringify(value)}`.slice(0, 500);
  } catch {
    return event.key;
  }
}
