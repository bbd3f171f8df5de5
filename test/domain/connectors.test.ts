// Connectors to model vendors: verified and write-only keys, checks, rotation and revocation, permitted URLs, and the cached result of
// checks at the vendor.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { vendorChecks } from '#domain/projects/vendors/check.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { createMember } from '../support/callers.ts';
import { fields, openConnectorWorld } from '../support/connector-world.ts';
import { present } from '../support/world.ts';

const { world, models, alice, mallory, logged, connectVendor, act, rotate, disconnect, connectorOf, close, reset } =
  await openConnectorWorld();
afterAll(close);
beforeEach(reset);

const claude = { vendor: 'anthropic', displayName: 'Claude', credentials: 'sk-right' };
const connect = (more: object = {}, token = alice.token) =>
  connectVendor({ ...claude, baseUrl: `${models.url}/`, ...more }, token);
const assign = (llmConnectorId: string, more: object = {}) =>
  world.rest('PATCH', '/orchestrator', { token: alice.token, body: { llmConnectorId, ...more } });
const usable = async () =>
  (await world.rest('GET', '/orchestrator', { token: alice.token })).body.assignedCredentialUsableForInference;

describe('model connectors', () => {
  it('a model connector stores its key sealed and never returns it; projects without a connector get the new one', async () => {
    const connector = await connect();
    expect(connector).toEqual({
      id: expect.stringMatching(/^int_/),
      vendor: 'anthropic',
      vendorKind: 'llm',
      displayName: 'Claude',
      externalOrgId: null,
      baseUrl: models.url,
      hasCredentials: true,
      brokenSince: null,
      checkedAt: present(),
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

  it('a model connector is checked by a call to its vendor, rotated, revoked and deleted', async () => {
    const [one, two] = [await connect(), await connect({ displayName: 'Second' })];
    expect(await act('check', one.id)).toMatchObject({ checkedAt: present(), checkFailure: null });
    expect(models.seen).toHaveLength(3);
    expect(models.seen[2]).toMatchObject({
      method: 'GET',
      path: '/v1/models',
      headers: { 'x-api-key': 'sk-right', 'anthropic-version': '2023-06-01' },
    });
    models.settings.key = 'sk-new';
    world.clock.turn(1_000);
    expect(await act('check', one.id)).toMatchObject({
      checkedAt: present(),
      checkFailure: 'Anthropic rejected the credentials (status 401).',
    });
    expect(logged).toEqual([
      `the connector ${one.id} cannot be used: Anthropic rejected the credentials (status 401).`,
    ]);
    const broken = await world.knex('integrations').where({ id: one.id }).first();
    expect(broken.brokenSince).toBe(present());
    expect(await rotate(one.id, 'sk-wrong')).toMatchObject({
      code: 'invalid_request',
      description: 'credentials: Anthropic rejected the credentials (status 401).',
    });
    expect(await rotate(one.id, 'sk-new')).toMatchObject({
      brokenSince: null,
      checkFailure: null,
      updatedAt: present(),
    });
    expect(await act('check', one.id)).toMatchObject({ checkFailure: null });
    expect(await act('revoke', one.id)).toMatchObject({ hasCredentials: false, updatedAt: present() + 1 });
    expect(await act('check', one.id)).toMatchObject({ checkFailure: 'The connector has no credentials.' });
    expect((await connectorOf()).llmConnectorId).toBe(one.id);
    expect(await disconnect(one.id)).toEqual({ ok: true, id: one.id });
    expect((await connectorOf()).llmConnectorId).toBe(two.id);
    await disconnect(two.id);
    expect(await connectorOf()).toMatchObject({
      llmConnectorId: '',
      missingConnectorKinds: expect.arrayContaining(['llm']),
    });
  });

  it('a model connector calls OpenAI below a base URL that contains the API version, with the key in the Authorization header', async () => {
    const { id } = await connect({ vendor: 'openai', baseUrl: `${models.url}/v1` });
    expect(await act('check', id)).toMatchObject({ checkFailure: null });
    const asked = { path: '/v1/models', headers: { authorization: 'Bearer sk-right' } };
    expect(models.seen).toMatchObject([asked, asked]);
  });

  it('403 · members of an organization cannot create or manage its connectors; other organizations do not find them', async () => {
    const { id } = await connect();
    const member = await createMember(world, alice.organization, 'Bob', 'member');
    expect(await connect({}, member.token)).toMatchObject({ code: 'missing_scope' });
    for (const name of ['check', 'revoke', 'disconnect']) {
      const selection = name === 'disconnect' ? '{ ok }' : fields;
      expect(await act(name, id, member.token, selection)).toMatchObject({ code: 'missing_scope' });
      expect(await act(name, id, mallory.token, selection)).toMatchObject({ description: 'No such integration.' });
    }
  });

  it.each([
    ['baseUrl: must be an https URL without user, query and fragment', { baseUrl: 'https://a:b@models.example.com' }],
    ['baseUrl: must be an https URL without user, query and fragment', { baseUrl: 'https://models.example.com?a=b' }],
    ['baseUrl: must be an https URL without user, query and fragment', { baseUrl: 'file:///etc/passwd' }],
    ['credentials: must be printable ASCII without spaces', { credentials: 'a\nb' }],
    ['credentials: must be at least 1 character', { credentials: '' }],
    ['credentials: must be at most 1000 characters', { credentials: 'k'.repeat(1_001) }],
    ['credentials: are required for anthropic', { credentials: null }],
    ['credentials: Anthropic rejected the credentials (status 401)', { credentials: 'sk-wrong' }],
    ['vendorKind: must be one of llm for anthropic', { vendorKind: 'scm' }],
    ['vendorKind: must be one of tracker, scm for github', { vendor: 'github' }],
    ['vendorKind: must be one of tracker for builtin', { vendor: 'builtin', vendorKind: 'scm', credentials: null }],
    ['credentials: must be absent for builtin', { vendor: 'builtin' }],
    ['baseUrl: must be absent for linear', { vendor: 'linear' }],
  ])('400 · an invalid model connector is refused: %s', async (words, more) => {
    const { code, description } = await connect(more);
    expect([code, description]).toEqual(['invalid_request', expect.stringContaining(words)]);
    expect(await world.knex('integrations')).toEqual([]);
  });

  it('a model connector reaches public IP addresses only, even at later checks', async () => {
    const { id } = await connect();
    openOutbound({ allowLoopback: false, resolve: async () => [{ address: '10.0.0.7', family: 4 }] });
    try {
      for (const baseUrl of [models.url, 'https://169.254.169.254', 'https://intranet.example.com', 'http://1.1.1.1']) {
        expect(await connect({ baseUrl })).toMatchObject({
          description: 'baseUrl: must be an https URL of a public host, on port 443.',
        });
      }
      expect(await act('check', id)).toMatchObject({ checkFailure: 'Anthropic is unreachable.' });
      expect(models.seen).toHaveLength(1);
    } finally {
      openOutbound({ allowLoopback: true });
    }
  });

  it('409 · an organization has at most twenty connectors, even when they are created concurrently', async () => {
    for (let i = 0; i < 19; i++) await connect();
    const codes = (await Promise.all([connect(), connect(), connect()])).map(({ code }) => code ?? 'created');
    expect(codes.sort()).toEqual(['conflict', 'conflict', 'created']);
  });
});

describe('usability of the orchestrator’s credentials', () => {
  it('the orchestrator’s credentials are checked with the vendor, and the result is cached: success for five minutes, failure for one minute', async () => {
    const { id } = await connect();
    expect((await assign(id)).body.assignedCredentialUsableForInference).toBe(true);
    models.settings.key = 'sk-other';
    world.clock.turn(vendorChecks.acceptedMs - 1);
    expect([await usable(), models.seen.length]).toEqual([true, 1]);
    world.clock.turn(1);
    expect([await usable(), models.seen.length]).toEqual([false, 2]);
    expect(logged).toHaveLength(1);
    models.settings.key = 'sk-right';
    world.clock.turn(vendorChecks.failedMs - 1);
    expect([await usable(), models.seen.length]).toEqual([false, 2]);
    world.clock.turn(1);
    expect(await Promise.all([usable(), usable(), usable()])).toEqual([true, true, true]);
    await act('revoke', id);
    expect(await usable()).toBe(false);
  });

  it('the orchestrator’s credentials are not usable when the connector belongs to another vendor or its server does not answer', async () => {
    const { id } = await connect({ baseUrl: 'http://127.0.0.1:9' });
    world.clock.turn(vendorChecks.failedMs);
    expect((await assign(id)).body.assignedCredentialUsableForInference).toBe(false);
    expect(logged).toEqual([`the connector ${id} cannot be used: Anthropic is unreachable.`]);
    expect((await assign(id, { model: 'gpt-5.1' })).body.assignedCredentialUsableForInference).toBe(false);
    expect(logged).toHaveLength(1);
    await assign(id, { model: null });
  });
});
