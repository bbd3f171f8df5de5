// Runtime tokens: admins create them in the console, see each token once, list the tokens and revoke them. A token admits runtimes of its
// organization.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { createRuntimeToken, runtimeTokens } from '#domain/identity/tokens/runtime-tokens.ts';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { seconds } from '#foundation/clock.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { type Account, createMember, createOwner } from '../support/callers.ts';
import { type Ask, knownRuntime, openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let mallory: Account;
let session: Session;

beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  session = await world.session(alice.person, alice.organization.id);
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const graphql = (query: string, ask: Ask, variables: Record<string, unknown> = {}): Promise<Json> =>
  world.field(query, { ...ask, variables });
const create = (ask: Ask = { session }, name = 'Rack 7') =>
  graphql('mutation ($name: String!) { createRuntimeToken(name: $name) { id name token createdAt } }', ask, { name });
const fields = '{ id name createdAt lastUsedAt revokedAt }';
const list = async (ask: Ask = { session }) => (await graphql(`{ runtimeTokens { data ${fields} } }`, ask)).data;
const revoke = (id: string, ask: Ask = { session }) =>
  graphql(`mutation ($id: String!) { revokeRuntimeToken(runtimeTokenId: $id) ${fields} }`, ask, { id });
const claim = (token: string) =>
  graphql('mutation { claimRun(input: { runtime: "Rack", harnesses: [shell] }) { runId } }', { token });

it('a runtime token is shown once, admits a runtime of its organization, and is listed with its last use', async () => {
  const made = await create();
  expect(made).toEqual({
    id: expect.stringMatching(/^svc_/),
    name: 'Rack 7',
    token: expect.stringMatching(/^srv_[\w-]{43}$/),
    createdAt: present(),
  });
  const row = await world.knex('service_tokens').where({ id: made.id }).first();
  expect(row).toMatchObject({ orgId: alice.organization.id, scopes: ['runtime:report'], digest: digest(made.token) });
  expect(await list()).toEqual([
    { id: made.id, name: 'Rack 7', createdAt: present(), lastUsedAt: null, revokedAt: null },
  ]);
  expect(await claim(made.token)).toBeNull();
  const runtimesOf = async (caller: Parameters<typeof graphql>[1]) =>
    (await graphql('{ runtimes { data { name tokenId isConnected } } }', caller)).data.filter(
      ({ name }: { name: string }) => name !== knownRuntime,
    );
  expect(await runtimesOf({ session })).toEqual([{ name: 'Rack', tokenId: made.id, isConnected: true }]);
  expect(await runtimesOf({ token: mallory.token })).toEqual([]);
  await expect.poll(async () => (await list())[0].lastUsedAt).toBe(present());
  const revoked = await revoke(made.id);
  expect(revoked).toMatchObject({ id: made.id, revokedAt: present() });
  world.clock.turn(seconds(1));
  expect(await revoke(made.id)).toEqual(revoked);
  expect(await claim(made.token)).toMatchObject({ code: 'unauthenticated' });
  expect(JSON.stringify(await list())).not.toContain(made.token);
});

it('403 · creating a runtime token requires a signed-in admin: otherwise a token could create its successor', async () => {
  expect(await create({ token: alice.token })).toMatchObject({
    code: 'forbidden',
    description: 'Only a person who is signed in to the console can do this; a token cannot.',
  });
  const { token } = await createMember(world, alice.organization, 'Bob', 'member');
  for (const refused of [await create({ token }), await graphql(`{ runtimeTokens { data ${fields} } }`, { token })]) {
    expect(refused).toMatchObject({
      code: 'missing_scope',
      description: expect.stringContaining('integrations:write'),
    });
  }
  expect(await create({ session }, ' ')).toMatchObject({ code: 'invalid_request' });
});

it('404 · a runtime token of another organization, or of the operator, is not found', async () => {
  const [theirs, operators] = await Promise.all([
    createServiceToken({ name: 'Theirs', orgId: mallory.organization.id }),
    createServiceToken({ name: 'All' }),
  ]);
  for (const { id } of [theirs, operators]) {
    expect(await revoke(id)).toMatchObject({ code: 'not_found', description: 'No such service token.' });
  }
  expect((await list()).map(({ name }: Json) => name)).not.toContain('Theirs');
  expect((await list({ token: mallory.token })).map(({ name }: Json) => name)).toEqual(['Theirs']);
});

it('409 · an organization has at most twenty active runtime tokens, even concurrently; a revoked one makes room', async () => {
  const { perOrganization } = runtimeTokens;
  const made = await Promise.all(Array.from({ length: perOrganization + 3 }, () => create()));
  expect(made.filter(({ code }) => code === 'conflict')).toHaveLength(3);
  await revoke(made.find(({ id }) => id).id);
  expect(await create()).toMatchObject({ name: 'Rack 7' });
});

it('409 · no runtime token is created after the organization was closed, even by a request that was admitted before', async () => {
  const { organization, person } = mallory;
  const caller: Caller = {
    principalType: 'cookie',
    credentialId: 'session',
    userId: person.id,
    orgId: organization.id,
    role: 'owner',
    scopes: scopesOfRole('owner'),
    projectId: null,
  };
  await world.knex('organizations').where({ id: organization.id }).update({ closedAt: present() });
  await expect(createRuntimeToken(caller, 'Late')).rejects.toMatchObject({ status: 409 });
});
