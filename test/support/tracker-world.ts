// An organization whose trackers are at stand-ins for Linear and GitHub.
import { expect, vi } from 'vitest';
import type { ProjectKind } from '#domain/projects/integrations/model.ts';
import type { Project, ProjectTracker } from '#domain/projects/projects/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import type { IssueOutcome } from '#domain/projects/vendors/tracker.ts';
import { trackerOf } from '#domain/projects/vendors/tracker-of.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { Problem } from '#foundation/problem.ts';
import { createOwner } from './callers.ts';
import { openGitHub } from './fake-github.ts';
import { openLinear } from './fake-linear.ts';
import { openWorld } from './world.ts';

export const linearKey = 'lin_api_OfAcmeAndOfNobodyElse';
export const githubToken = 'ghp_OfAcmeAndOfNobodyElse';

interface Shown {
  missingConnectorKinds?: ProjectKind[];
}

export const newIssue = (more: object = {}) => ({
  runId: newId('run'),
  title: 'Daily',
  body: 'Do it.',
  labels: [],
  ...more,
});
export const create = (project: Project, issue = newIssue()) => trackerOf(project).createIssue(project, issue);
export const finish = (project: Project, issueId: string, outcome: IssueOutcome) =>
  trackerOf(project).finishIssue(project, issueId, outcome);

/** The error of a refused call: status, whether a retry may help, the seconds before a retry, and the message. */
export const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error) => {
      expect(error).toBeInstanceOf(Problem);
      expect(JSON.stringify([error.message, error.stack, error.body])).not.toMatch(/OfAcmeAndOfNobodyElse/);
      const { status, body, headers } = error as Problem;
      return [status, body.retryable, headers['retry-after'] ?? null, body.description];
    },
  );

export async function openTrackerWorld() {
  const logged: string[] = [];

  const connect = (vendor: ProjectTracker, credentials?: string, vendorKind: ProjectKind = 'tracker') =>
    connectIntegration({ orgId: acme.id, vendor, vendorKind, displayName: vendor, credentials });
  openOutbound({ allowLoopback: true });
  const [linear, github] = await Promise.all([openLinear(linearKey), openGitHub(githubToken)]);
  const vendors = { linear: linear.address, github: github.address };
  const world = await openWorld({ vendors, log: (line) => logged.push(line) });
  const { organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme');
  await connect('linear', linearKey);
  await connect('github', githubToken);

  /** A project created by the API. */
  async function projectOn(tracker: ProjectTracker, more: object = {}): Promise<Project & Shown> {
    const body = { name: 'Shop', repoFullName: 'acme/shop', tracker, trackerTeamKey: 'ENG', ...more };
    const answer = await world.rest('POST', '/projects', { token: alice, body });
    expect(answer.status).toBe(201);
    return answer.body;
  }

  /** Waits for a new connector, calls `work` with the id of the connector, and then deletes the connector. */
  async function using<T extends { id: string }>(
    made: Promise<T>,
    work: (id: T['id']) => Promise<void>,
  ): Promise<void> {
    const { id } = await made;
    await work(id);
    await world.knex('integrations').where({ id }).delete();
  }
  return {
    world,
    linear,
    github,
    connect,
    projectOn,
    using,
    logged,
    acme,
    alice,
    async close(): Promise<void> {
      await Promise.all([world.close(), linear.close(), github.close()]);
      openOutbound({ allowLoopback: false });
    },
    async reset(): Promise<void> {
      linear.clear();
      github.clear('acme/shop');
      await world.knex('projects').delete();
    },
    async check(): Promise<void> {
      await world.knex('integrations').update({ pausedUntil: null });
      vi.restoreAllMocks();
      expect([linear.violations, github.violations]).toEqual([[], []]);
    },
  };
}
