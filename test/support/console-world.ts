// An organization with a project, and its owner in the console's application, in a real browser.
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createOwner, createProject } from './callers.ts';
import { createPageInspector } from './page-inspector.ts';
import { openWorld } from './world.ts';

export type ConsoleWorld = Awaited<ReturnType<typeof openConsoleWorld>>;

export async function openConsoleWorld(browser: Browser) {
  const world = await openWorld();
  const pages = createPageInspector(browser, world.url);
  const owner = await createOwner(world, 'Alice', 'Acme');
  const { person, organization: acme } = owner;
  await world.grant(acme, 10_000);
  await world.lift(acme);
  const session = await world.session(person, acme.id);
  const projectId = await createProject(world, owner, 'Web shop');

  return {
    world,
    pages,
    person,
    acme,
    session,
    projectId,
    async open(path: string): Promise<Page> {
      const page = await pages.open(session);
      await page.goto(path);
      return page;
    },
    /** Sends a GraphQL query as the owner, and returns the data of the response. */
    asked: async (query: string) => (await world.graphql(query, { session })).body.data,
    /** Closes all windows, and fails if one of them had a problem. */
    async check(): Promise<void> {
      await pages.close();
      expect(pages.takeProblems()).toEqual([]);
    },
  };
}
