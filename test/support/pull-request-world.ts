// A project whose repository is at a stand-in for GitHub, and whose missions open pull requests. The functions here also send the events
// that people and checks cause at GitHub.
import { expect } from 'vitest';
import { openGitHub } from './fake-github.ts';
import { approved, commented, githubHeaders, lineCommented, reviewed } from './github-events.ts';
import { commits, openHostWorld } from './host-world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
export type Json = any;

export const token = 'ghp_ofAcme';
export const { first, second, third } = commits;

export async function openPullRequestWorld() {
  const repository = () => [...github.repositories.values()][0]!;
  const github = await openGitHub(token);
  const host = await openHostWorld({
    vendor: 'github',
    host: github,
    credentials: token,
    heads: () => repository().heads,
  });
  const { world, hook } = host;

  /** A run that has opened pull request 2 and has ended. */
  async function opened(): Promise<Json> {
    const held = await host.startMission();
    expect(await host.push(held, first)).toMatchObject({ prNumber: 2 });
    await host.finish(held);
    return held;
  }

  function deliver(name: string, payload: object): Promise<Json> {
    const body = JSON.stringify({ repository: { full_name: 'acme/shop' }, ...payload });
    return hook.deliver(body, githubHeaders(name, body, hook.secret));
  }
  return {
    ...host,
    github,
    repository,
    opened,
    deliver,
    review: (...given: Parameters<typeof reviewed>) => deliver(...reviewed(...given)),
    lineComment: (...given: Parameters<typeof lineCommented>) => deliver(...lineCommented(...given)),
    comment: (body: string) => deliver(...commented(body)),
    approve: (...given: Parameters<typeof approved>) => deliver(...approved(...given)),
    async reset(): Promise<void> {
      github.clear('acme/shop');
      repository().permissions.set('ada', 'write').set('bob', 'write').set('eve', 'read');
    },
    async check(): Promise<void> {
      await world.knex('runs').delete();
      await world.knex('projects').update({ pullRequestLoop: null });
      expect(github.violations).toEqual([]);
    },
  };
}
