// Model connectors of an organization: connected with a key that nobody reads again, checked, rotated, revoked and deleted; where
// their addresses may lead; and what the vendor says of the key, asked and remembered.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bindModelLog, modelChecks } from '#domain/vendors/models.ts';
import { openOutbound } from '#foundation/outbound.ts';
import { unseal } from '#foundation/secrets.ts';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { startModels } from '../support/stand-in-models.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let models: Awaited<ReturnType<typeof startModels>>;
let alice: Account;
let mallory: Account;
let projectId: string;
const logged: string[] = [];

beforeAll(async () => {
  [world, models] = await Promise.all([openWorld(), startModels()]);
  openOutbound({ allowLoopback: true });
  bindModelLog((line) => logged.push(line));
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  projectId = await createProject(world, alice, 'Shop');
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  bindModelLog(() => {});
  await Promise.all([world.close(), models.close()]);
});
beforeEach(async () => {
  await world.knex('projects').update({ llmConnectorId: null });
  await world.knex('integrations').delete();
  models.settings.key = 'sk-right';
  models.seen.length = logged.length = 0;
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into
type Json = any;
const graphql = async (query: string, variables: object, token = alice.token): Promise<Json> => {
  const { body } = await world.graphql(query, { token, variables: { ...variables } });
  return body.errors ? body.errors[0].extensions.problem : Object.values(body.data)[0];
};
const fields =
  '{ id vendor vendorKind displayName baseUrl hasCredentials brokenSince checkedAt checkFailure updatedAt }';
const connect = (more: object = {}, token = alice.token) =>
  graphql(
    `mutation ($vendor: ModelVendor!, $displayName: String!, $apiKey: String!, $baseUrl: String) {
      connectModel(vendor: $vendor, displayName: $displayName, apiKey: $apiKey, baseUrl: $baseUrl) ${fields} }`,
    { vendor: 'anthropic', displayName: 'Claude', apiKey: 'sk-right', baseUrl: `${models.url}/`, ...more },
    token,
  );
const act = (name: string, integrationId: string, token = alice.token, selection = fields) =>
  graphql(
    `mutation ($id: String!) { ${name}ModelConnector(integrationId: $id) ${selection} }`,
    { id: integrationId },
    token,
  );
const rotate = (id: string, apiKey: string) =>
  graphql(
    `mutation ($id: String!, $apiKey: String!) { rotateModelConnector(integrationId: $id, apiKey: $apiKey) ${fields} }`,
    { id, apiKey },
  );
const assign = (llmConnectorId: string, more: object = {}) =>
  world.rest('PATCH', '/orchestrator', { token: alice.token, body: { llmConnectorId, ...more } });
const usable = async () =>
  (await world.rest('GET', '/orchestrator', { token: alice.token })).body.assignedCredentialUsableForInference;
const connectorOf = async () => (await world.rest('GET', `/projects/${projectId}`, { token: alice.token })).body;

describe('a model connector', () => {
  it('is connected with a key that is sealed and that no read returns; projects without one get it', async () => {
    const connector = await connect();
    expect(connector).toEqual({
      id: expect.stringMatching(/^int_/),
      vendor: 'anthropic',
      vendorKind: 'llm',
      displayName: 'Claude',
      baseUrl: models.url,
      hasCredentials: true,
      brokenSince: null,
      checkedAt: null,
      checkFailure: null,
      updatedAt: present(),
    });
    const row = await world.knex('integrations').where({ id: connector.id }).first();
    expect(JSON.stringify(row)).not.toContain('sk-right');
    expect(unseal(`integration:${connector.id}`, row.sealedCredentials)).toBe('sk-right');
    const { body } = await world.rest('GET', '/integrations', { token: alice.token });
    expect(body.integrations).toMatchObject([{ id: connector.id, vendorKind: 'llm', dependentProjectCount: 1 }]);
    expect(Object.keys(body.integrations[0])).not.toContain('hasCredentials');
    expect(JSON.stringify(body)).not.toContain('sk-right');
    expect((await connectorOf()).llmConnectorId).toBe(connector.id);
  });

  it('is checked by a call to its vendor, rotated, revoked, and deleted', async () => {
    const [one, two] = [await connect(), await connect({ displayName: 'Second' })];
    expect(await act('check', one.id)).toMatchObject({ checkedAt: present(), checkFailure: null });
    expect(models.seen).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { 'x-api-key': 'sk-right', 'anthropic-version': '2023-06-01' } },
    ]);
    models.settings.key = 'sk-new';
    world.clock.turn(1_000);
    expect(await act('check', one.id)).toMatchObject({
      checkedAt: present(),
      checkFailure: 'Anthropic rejected the credentials (status 401).',
    });
    expect(logged).toEqual([
      `the model connector ${one.id} cannot be used: Anthropic rejected the credentials (status 401).`,
    ]);
    const broken = await world.knex('integrations').where({ id: one.id }).first();
    expect(broken.brokenSince).toBe(present());
    expect(await rotate(one.id, 'sk-new')).toMatchObject({ brokenSince: null, checkedAt: null, updatedAt: present() });
    expect(await act('check', one.id)).toMatchObject({ checkFailure: null });
    expect(await act('revoke', one.id)).toMatchObject({ hasCredentials: false, updatedAt: present() + 1 });
    expect(await act('check', one.id)).toMatchObject({ checkFailure: 'The connector has no credentials.' });
    expect((await connectorOf()).llmConnectorId).toBe(one.id);
    expect(await act('delete', one.id, alice.token, '{ ok id }')).toEqual({ ok: true, id: one.id });
    expect((await connectorOf()).llmConnectorId).toBe(two.id);
    await act('delete', two.id, alice.token, '{ ok }');
    expect(await connectorOf()).toMatchObject({
      llmConnectorId: '',
      missingConnectorKinds: expect.arrayContaining(['llm']),
    });
  });

  it('of OpenAI has an address with its version, and another header', async () => {
    const { id } = await connect({ vendor: 'openai', baseUrl: `${models.url}/v1` });
    expect(await act('check', id)).toMatchObject({ checkFailure: null });
    expect(models.seen).toMatchObject([{ path: '/v1/models', headers: { authorization: 'Bearer sk-right' } }]);
  });

  it('belongs to admins of its organization', async () => {
    const { id } = await connect();
    const member = await createMember(world, alice.organization, 'Bob', 'member');
    expect(await connect({}, member.token)).toMatchObject({ code: 'missing_scope' });
    for (const name of ['check', 'revoke', 'delete']) {
      const selection = name === 'delete' ? '{ ok }' : fields;
      expect(await act(name, id, member.token, selection)).toMatchObject({ code: 'missing_scope' });
      expect(await act(name, id, mallory.token, selection)).toMatchObject({ description: 'No such integration.' });
    }
    const tracker = await world.knex('integrations').where({ id }).update({ vendorKind: 'tracker', vendor: 'github' });
    expect([tracker, (await act('revoke', id)).code]).toEqual([1, 'not_found']);
  });

  it.each([
    [
      'baseUrl: must be an https address without user, query and fragment',
      { baseUrl: 'https://a:b@models.example.com' },
    ],
    [
      'baseUrl: must be an https address without user, query and fragment',
      { baseUrl: 'https://models.example.com?a=b' },
    ],
    ['baseUrl: must be an https address without user, query and fragment', { baseUrl: 'file:///etc/passwd' }],
    ['apiKey: must be printable ASCII without spaces', { apiKey: 'a\nb' }],
    ['apiKey: must be at least 1 character', { apiKey: '' }],
    ['apiKey: must be at most 1000 characters', { apiKey: 'k'.repeat(1_001) }],
  ])('400 · %s', async (words, more) => {
    const { code, description } = await connect(more);
    expect([code, description]).toEqual(['invalid_request', expect.stringContaining(words)]);
    expect(await world.knex('integrations')).toEqual([]);
  });

  it('leads to public addresses only, also when it is asked later', async () => {
    const { id } = await connect();
    openOutbound({ allowLoopback: false, resolve: async () => [{ address: '10.0.0.7', family: 4 }] });
    try {
      for (const baseUrl of [models.url, 'https://169.254.169.254', 'https://intranet.example.com', 'http://1.1.1.1']) {
        expect(await connect({ baseUrl })).toMatchObject({
          description: 'baseUrl: must be at a public address, by https on port 443.',
        });
      }
      expect(await act('check', id)).toMatchObject({ checkFailure: 'Anthropic is unreachable.' });
      expect(models.seen).toEqual([]);
    } finally {
      openOutbound({ allowLoopback: true });
    }
  });

  it('409 · beyond twenty of an organization, also at once', async () => {
    for (let i = 0; i < 19; i++) await connect();
    const codes = (await Promise.all([connect(), connect(), connect()])).map(({ code }) => code ?? 'created');
    expect(codes.sort()).toEqual(['conflict', 'conflict', 'created']);
  });
});

describe('whether the assigned credentials are usable', () => {
  it('is asked of the vendor, and remembered: a yes for five minutes, a no for one', async () => {
    const { id } = await connect();
    expect((await assign(id)).body.assignedCredentialUsableForInference).toBe(true);
    models.settings.key = 'sk-other';
    world.clock.turn(modelChecks.acceptedMs - 1);
    expect([await usable(), models.seen.length]).toEqual([true, 1]);
    world.clock.turn(1);
    expect([await usable(), models.seen.length]).toEqual([false, 2]);
    expect(logged).toHaveLength(1);
    models.settings.key = 'sk-right';
    world.clock.turn(modelChecks.failedMs - 1);
    expect([await usable(), models.seen.length]).toEqual([false, 2]);
    world.clock.turn(1);
    expect(await Promise.all([usable(), usable(), usable()])).toEqual([true, true, true]);
    await rotate(id, 'sk-wrong');
    expect(await usable()).toBe(false);
    await act('revoke', id);
    expect(await usable()).toBe(false);
  });

  it('is a no for a connector of another vendor, and for a server that does not answer', async () => {
    const { id } = await connect({ baseUrl: 'http://127.0.0.1:9' });
    expect((await assign(id)).body.assignedCredentialUsableForInference).toBe(false);
    expect(logged).toEqual([`the model connector ${id} cannot be used: Anthropic is unreachable.`]);
    expect((await assign(id, { model: 'gpt-5.1' })).body.assignedCredentialUsableForInference).toBe(false);
    expect(logged).toHaveLength(1);
    await assign(id, { model: null });
  });
});
