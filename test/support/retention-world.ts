// A world with two organizations, Shop and Other, that have a project each, for tests of their retention.
import { type Account, type Callers, createCallers, createProject } from './callers.ts';
import type { Place } from './runtime-records.ts';
import { openWorld, type World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

export interface RetentionWorld {
  world: World;
  callers: Callers;
  shop: Place;
  other: Place;
  /**
   * Sends the GraphQL query as this account, or as the owner of the first organization if no account is given. Returns the data of the
   * query’s root field, or the problem of the response.
   */
  ask(query: string, account?: Account): Promise<Json>;
  /** Tokens expire as the clock is moved, so each call uses a new one. */
  tokenOf(account: Account): Promise<{ token: string }>;
}

export async function openRetentionWorld(): Promise<RetentionWorld> {
  const world = await openWorld();
  const callers = await createCallers(world);
  const { owner, stranger } = callers;
  const shop = { orgId: owner.organization.id, projectId: await createProject(world, owner, 'Shop') };
  const other = { orgId: stranger.organization.id, projectId: await createProject(world, stranger, 'Other') };
  const tokenOf = async ({ person, organization }: Account) => ({ token: await world.token(person, organization) });
  const ask = async (query: string, account = owner): Promise<Json> => world.field(query, await tokenOf(account));
  return { world, callers, shop, other, tokenOf, ask };
}
