// Relations load in batches: one statement per relation and level for any number of rows (context.ts).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectKind, Vendor } from '#domain/projects/integrations/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let token: string;
let acme: Awaited<ReturnType<World['found']>>;

beforeAll(async () => {
  world = await openWorld();
  ({ organization: acme, token } = await createOwner(world, 'Alice', 'Acme'));
  const connect = (vendorKind: ProjectKind, vendor: Vendor) =>
    connectIntegration({ orgId: acme.id, vendor, vendorKind, displayName: vendor });
  await Promise.all([connect('tracker', 'builtin'), connect('scm', 'github'), connect('llm', 'anthropic')]);
  await addProject(0);
});
afterAll(() => world.close());

const addProject = (n: number) => createProject(world, { token }, `Project ${n}`);

const query = /* GraphQL */ `
  {
    projects(limit: 50) {
      data {
        name
        organization {
          name
          memberships {
            role
            person { name }
            organization { name }
          }
        }
        trackerConnector { displayName dependentProjectCount }
        scmConnector { displayName organization { slug } }
        llmConnector { displayName }
      }
    }
  }
`;

/** Tables that a request reads or writes, one entry per statement. */
async function asked(source: string): Promise<{ tables: string[]; body: { data: never; errors?: unknown } }> {
  const tables: string[] = [];
  const stop = watchStatements((text) => tables.push(/(?:from|update|into) "?(\w+)/.exec(text)?.[1] ?? text));
  try {
    const { body } = await world.graphql(source, { token });
    expect(body.errors).toBe(undefined);
    return { tables, body };
  } finally {
    stop();
  }
}

test('a query of fifty projects with their organization, members, people and three connectors takes as many statements as a query of one project', async () => {
  const one = await asked(query);
  for (let n = 1; n < 50; n++) await addProject(n);
  for (const name of ['Bob', 'Carol', 'Dave', 'Erin', 'Frank']) await createMember(world, acme, name, 'member');
  const fifty = await asked(query);

  const { data } = (
    fifty.body.data as { projects: { data: { organization: { memberships: { person: unknown }[] } }[] } }
  ).projects;
  expect(data).toHaveLength(50);
  expect(data[49]!.organization.memberships.map(({ person }) => person)).toHaveLength(6);
  expect(data[49]!.organization.memberships).toContainEqual({
    role: 'member',
    person: { name: 'Frank' },
    organization: { name: 'Acme' },
  });
  // The statement that looks up the token is listed under `organizations`, because it first reads the networks of the organization. Two
  // statements read projects: one reads the page, and the other counts the projects that depend on each connector.
  const organizations = ['organizations', 'organizations'];
  const statements = ['integrations', 'memberships', ...organizations, 'people', 'projects', 'projects'];
  expect(one.tables.sort()).toEqual(statements);
  expect(fifty.tables.sort()).toEqual(statements);
});

test('a query of fifty projects and one relation takes three statements: the token, the page, the relation', async () => {
  const { tables } = await asked('{ projects(limit: 50) { data { name organization { name } } } }');
  expect(tables).toEqual(['organizations', 'projects', 'organizations']);
});

test('records that one operation of a batch has loaded are not reused for another operation', async () => {
  let reads = 0;
  const stop = watchStatements((text, times) => {
    if (/from "?organizations"?/.test(text) && !/from tokens/.test(text)) reads += times;
  });
  const one = { query: '{ projects(limit: 1) { data { organization { name } } } }' };
  const { body } = await world.request('POST', '/graphql', { token, body: [one, one] });
  stop();
  expect(body).toHaveLength(2);
  expect(reads).toBe(2);
});
