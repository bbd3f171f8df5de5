// Reacts to an event of a source host in other ways than by starting missions: reads the logs of a failed CI run, checks pull requests that may
// conflict, and checks credentials whose access may have changed.
import { ignoringCase } from '#foundation/postgres/reads.ts';
import { toProblem } from '#foundation/problem.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { checkConnector } from '../../projects/vendors/check.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import type { InboundEvent, UnusedEvent } from '../../projects/vendors/event.ts';
import { openAtHost } from '../../projects/vendors/follow-repository.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import { checkAllInto } from '../runs/branch.ts';
import { openHostFilter, projectsOf } from './match.ts';

/** Adds the ends of the failed jobs' logs to an event about a failed CI run. @throws retryable Problems of the source host */
export async function withLogs(project: Project, event: InboundEvent): Promise<InboundEvent> {
  const { ciRun } = event;
  if (!ciRun) return event;
  try {
    const { host } = await hostOf(project);
    const logs = await host.failedJobs?.(project, ciRun);
    return logs ? withText(event, logs.replaceAll('\0', '')) : event;
  } catch (error) {
    const { body, status } = toProblem(error);
    if (body.retryable || status === 500) throw error;
    return withText(event, `The logs could not be read: ${body.description}`);
  }
}

const withText = (event: InboundEvent, more: string): InboundEvent => {
  const text = `${event.text}\n\n${more}`;
  return { ...event, text, remark: event.remark && { ...event.remark, text } };
};

/**
 * Lets projects follow a repository that was renamed or transferred, before the event is compared with their rules. Returns the reason why
 * a project cannot follow; null when no project has to follow, or all have followed. @throws retryable Problems of the source host
 */
export async function followRepositories(
  { orgId, vendor }: InboundHook,
  event: InboundEvent | UnusedEvent,
): Promise<string | null> {
  const isOfHost = await openHostFilter(orgId);
  for (const project of await projectsToFollow(orgId, event)) {
    if (!isOfHost(project, vendor, event)) continue;
    try {
      await openAtHost(project);
    } catch (error) {
      if (!isFinal(error)) throw error;
      return `The repository of the project ${project.name} was renamed or transferred: ${error.body.description}`;
    }
  }
  return null;
}

async function projectsToFollow(
  orgId: InboundHook['orgId'],
  { repositoryKey, ...event }: InboundEvent | UnusedEvent,
): Promise<Project[]> {
  if ('formerly' in event && event.formerly) {
    const { owner, repository } = event.formerly;
    const scmRepo = repository === undefined ? undefined : ignoringCase(repository);
    return Project.findAll({ orgId, scmOwner: ignoringCase(owner), scmRepo });
  }
  if (!repositoryKey || !('repository' in event) || event.repository === null) return [];
  const known = await Project.findAll({ orgId, scmRepositoryKey: repositoryKey });
  const name = event.repository.toLowerCase();
  return known.filter(({ scmOwner, scmRepo }) => `${scmOwner}/${scmRepo}`.toLowerCase() !== name);
}

/** Applies an event that starts no mission but reports a change at the host. */
export async function noteUnused(
  { orgId, vendor }: InboundHook,
  { moved, server, repositoryKey, changesAccess }: UnusedEvent,
): Promise<void> {
  if (moved) {
    const projects = await projectsOf(orgId, vendor, { ...moved, server, repositoryKey });
    await checkAllInto(
      projects.map(({ id }) => id),
      moved.branch,
    );
  }
  if (!changesAccess || vendor === 'webhook') return;
  // Current states are read from the vendor, because the event may be old.
  const connectors = await Integration.findAll({ orgId, vendor, hasCredentials: true });
  for (const connector of connectors) await checkConnector(connector);
}
