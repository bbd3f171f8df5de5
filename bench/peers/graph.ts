// The schema of the GraphQL peers: the part of the service's schema that the bench uses, with the same types. Relations are loaded in
// batches with the SQL statements of servers/work.ts, which bare.ts and fastify.ts also use.
import { readFileSync } from 'node:fs';
import {
  type Caller,
  findMemberships,
  findOrganizations,
  findPeople,
  findProject,
  listProjects,
} from '../servers/work.ts';

export const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');

export interface Context {
  caller: Caller;
}

export const Query = {
  projects: (_: unknown, { limit, cursor }: { limit: number; cursor?: string }, { caller }: Context) =>
    listProjects(caller, limit, cursor),
  project: (_: unknown, { projectId }: { projectId: string }, { caller }: Context) => findProject(caller, projectId),
};

/** Batch functions, with results in the order of their keys, as both kinds of loader require. */
export const batches = {
  organizations: async (ids: readonly string[]) => inOrder(ids, await findOrganizations(ids)),
  memberships: async (orgIds: readonly string[]) => {
    const found = await findMemberships(orgIds);
    return orgIds.map((id) => found.filter(({ orgId }) => orgId === id));
  },
  people: async (ids: readonly string[]) => inOrder(ids, await findPeople(ids)),
};

function inOrder<Row extends { id: string }>(ids: readonly string[], found: Row[]): (Row | null)[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}
