// The agent-to-agent endpoint of the running service: the agent card, its OAuth resource, and invalid calls. a2a-tasks.test.ts tests
// the methods.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { addresses, bindAddresses } from '#foundation/http/addresses.ts';
import { bytes } from '#limits.ts';
import { createA2a } from '../../src/surfaces/a2a/surface.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  token = owner.token;
});
afterAll(() => world.close());

const call = (method: string, version?: string, params: unknown = {}) =>
  world.request('POST', '/a2a', {
    token,
    headers: version ? { 'a2a-version': version } : {},
    body: { jsonrpc: '2.0', id: 'a-1', method, params },
  });

const errorInfo = (reason: string) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'a2a-protocol.org',
});

describe('A2A discovery', () => {
  test('the agent card names the URL and protocols for every client, and announces only features that exist', async () => {
    const { status, headers, body } = await world.request('GET', '/.well-known/agent-card.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const flow = {
      authorizationUrl: `${world.url}/oauth/authorize`,
      tokenUrl: `${world.url}/v1/oauth2/token`,
      refreshUrl: `${world.url}/v1/oauth2/token`,
      scopes: Object.fromEntries(catalog.map(({ scope, description }) => [scope, description])),
    };
    const oauth2MetadataUrl = `${world.url}/.well-known/oauth-authorization-server`;
    const bearer = { scheme: 'bearer', description: 'A personal access token, `pat_…`.' };
    expect(body).toEqual({
      name: 'Agent Engineering Platform',
      description: 'Runs AI agents (missions) against software projects. A task is a run of a mission.',
      version: '0.0.0',
      documentationUrl: `${world.url}/auth.md`,
      supportedInterfaces: [
        { url: `${world.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${world.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain'],
      skills: expect.arrayContaining([expect.objectContaining({ id: 'run-mission' })]),
      signatures: [{ protected: expect.any(String), signature: expect.any(String) }],
      securitySchemes: {
        bearer: { type: 'http', ...bearer, httpAuthSecurityScheme: bearer },
        oauth2: {
          type: 'oauth2',
          flows: { authorizationCode: flow },
          oauth2MetadataUrl,
          oauth2SecurityScheme: { flows: { authorizationCode: { ...flow, pkceRequired: true } }, oauth2MetadataUrl },
        },
      },
      securityRequirements: [{ schemes: { oauth2: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
      protocolVersion: '0.3.0',
      url: `${world.url}/a2a`,
      preferredTransport: 'JSONRPC',
      security: [{ oauth2: [] }, { bearer: [] }],
    });
    const { signatures: _, ...unsigned } = (await world.request('GET', '/a2a/.well-known/agent-card.json')).body;
    expect(body).toMatchObject(unsigned);
  });

  test('405 · the agent card accepts only GET and HEAD', async () => {
    const { status, headers } = await world.request('POST', '/.well-known/agent-card.json', { body: {} });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('A2A authentication', () => {
  const metadata = () => `resource_metadata="${world.url}/.well-known/oauth-protected-resource/a2a"`;

  test('401 · without a token, the challenge links to the metadata of the A2A resource', async () => {
    const { status, headers, body } = await world.request('POST', '/a2a', { body: {} });
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata()}`]);
    expect(body).toEqual({
      category: 'auth',
      title: 'Unauthenticated',
      description: 'A bearer token is required in the Authorization header.',
      retryable: false,
      code: 'unauthenticated',
    });
  });

  test('401 · an unknown token, a service token and a person’s cookie are refused', async () => {
    for (const bad of ['pat_nothing', await world.service()]) {
      const { status, headers } = await world.request('POST', '/a2a', { token: bad, body: {} });
      expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer error="invalid_token", ${metadata()}`]);
    }
    const session = await world.session(owner.person, owner.organization.id);
    expect((await world.request('POST', '/a2a', { session, body: {} })).status).toBe(401);
  });
});

describe('A2A methods', () => {
  test.each([
    ['GetTask', '1.0', -32602, 'INVALID_PARAMS'],
    ['GetExtendedAgentCard', '1.0', -32004, 'UNSUPPORTED_OPERATION'],
    ['SendMessage', '2.0', -32009, 'VERSION_NOT_SUPPORTED'],
  ])(
    'the A2A method %s in version %s fails with the code %i and the protocol’s name for the error',
    async (method, version, code, reason) => {
      const { status, body } = await call(method, version);
      expect(status).toBe(200);
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: 'a-1',
        error: { code, message: expect.any(String), data: expect.arrayContaining([errorInfo(reason)]) },
      });
    },
  );

  test('an A2A error contains the problem, with the error of each field', async () => {
    const problem = {
      ...{ category: 'validation', title: 'Invalid request', retryable: false, code: 'invalid_request' },
      description: 'id: must be at least 1 character.',
      fields: [{ path: 'id', message: 'must be at least 1 character' }],
    };
    const details = { '@type': `${world.url}/reference/errors`, ...problem };
    expect((await call('GetTask', '1.0')).body.error.data).toEqual([errorInfo('INVALID_PARAMS'), details]);
    expect((await call('tasks/get', '0.3')).body.error.data).toMatchObject([
      { ...details, description: 'id: is required.', fields: [{ path: 'id', message: 'is required' }] },
    ]);
  });

  test('a method that the A2A version does not have is not found', async () => {
    for (const [method, version] of [
      ['message/send', '1.0'],
      ['SendMessage', '0.3'],
      ['constructor', '1.0'],
    ] as const) {
      const { body } = await call(method, version);
      expect(body).toEqual({ jsonrpc: '2.0', id: 'a-1', error: expect.objectContaining({ code: -32601 }) });
    }
  });

  test('invalid JSON and an invalid JSON-RPC request have different error codes', async () => {
    const code = async (body: unknown) => (await world.request('POST', '/a2a', { token, body })).body.error.code;
    expect(await code('{')).toBe(-32700);
    for (const body of [[], { jsonrpc: '2.0', method: 'SendMessage' }, { id: 1, method: 'SendMessage' }, null]) {
      expect(await code(JSON.stringify(body))).toBe(-32600);
    }
  });

  test('405, 413 and 415 · the A2A endpoint accepts only JSON of limited size, by POST', async () => {
    const got = await world.request('GET', '/a2a', { token });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await world.request('POST', '/a2a', { token, body: ' '.repeat(bytes.jsonBody + 1) })).status).toBe(413);
    const text = { token, body: 'hello', headers: { 'content-type': 'text/plain' } };
    expect((await world.request('POST', '/a2a', text)).status).toBe(415);
  });
});

test('an A2A endpoint with its own host is served at the root of that host only', () => {
  const own = { meter: async () => {}, authenticate: () => Promise.reject(new Error('not asked')), report: () => {} };
  const here = addresses();
  bindAddresses({ ...here, a2a: 'https://agents.example' });
  try {
    const { owns } = createA2a({ version: '0', ...own });
    expect(owns('/', 'agents.example')).toBe(true);
    expect(owns('/', 'platform.example')).toBe(false);
    expect(owns('/a2a', 'agents.example')).toBe(false);
    expect(owns('/.well-known/agent-card.json', 'agents.example')).toBe(true);
  } finally {
    bindAddresses(here);
  }
});
