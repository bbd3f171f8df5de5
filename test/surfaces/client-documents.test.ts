// A client whose id is the URL of its metadata document, fetched from a real TLS server on this machine
// (draft-ietf-oauth-client-id-metadata-document; docs/contract.md#client-metadata-documents).
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { maxDocumentBytes } from '#domain/identity/oauth/client-documents.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { rates } from '#limits.ts';
import { makeCertificate } from '../support/certificate.ts';
import {
  authorizationRequest,
  locationOf,
  type OAuthWorld,
  openOAuthWorld,
  type Visit,
} from '../support/oauth-world.ts';
import type { Answer } from '../support/world.ts';

let world: OAuthWorld;
let ada: Visit;
let host: string;
let fetches = 0;
let listener: RequestListener;

const certificate = makeCertificate(['localhost', 'client.example']);
const server = createServer(certificate, (req, res) => {
  fetches++;
  listener(req, res);
});
const redirectUri = 'http://localhost/callback';

beforeAll(async () => {
  world = await openOAuthWorld();
  ada = await world.visitor('ada');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `localhost:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  openOutbound({ allowLoopback: true, ca: certificate.cert });
  fetches = 0;
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  server.closeAllConnections();
  server.close();
  expect(world.faults).toEqual([]);
  await world.close();
});

let count = 0;
/** A URL that no other test uses for a client metadata document. */
const newAddress = () => `https://${host}/client-${++count}.json`;

const metadata = (clientId: string, more: object = {}) => ({
  client_id: clientId,
  client_name: 'Editor',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
  ...more,
});

function serve(body: unknown, headers: Record<string, string> = {}, status = 200): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  listener = (_req, res) => res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

const request = (clientId: string, more: Record<string, string | undefined> = {}) =>
  authorizationRequest(clientId, { redirect_uri: 'http://localhost:54321/callback', ...more });
const openPage = (clientId: string, more = {}) => world.openPage(request(clientId, more).parameters, ada.session);

function expectRefused(answer: Answer): void {
  expect(answer.status).toBe(400);
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.body).toMatch(/client_id|redirect_uri/);
}

it('303 · a client metadata document is not fetched for a visitor who is not signed in, whatever the client id', async () => {
  const id = newAddress();
  serve(metadata(id));
  const { parameters } = request(id);
  for (const clientId of [id, id.replace('https:', 'HTTPS:')]) {
    const answer = await world.openPage({ ...parameters, client_id: clientId });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/sign-in\?/)]);
  }
  expect(fetches).toBe(0);
  expect((await world.openPage(parameters, ada.session)).status).toBe(200);
  expect(fetches).toBe(1);
});

describe('Valid client metadata documents', () => {
  it('a client metadata document identifies a client by name and host; a refresh of its tokens needs no document', async () => {
    const id = newAddress();
    serve(metadata(id, { client_uri: 'https://editor.example', unknown_member: [1] }));
    const { verifier, parameters } = request(id);
    const page = await world.openPage(parameters, ada.session);
    expect(page.status).toBe(200);
    expect(page.body).toContain('<bdi>Editor</bdi> requests access');
    expect(page.body).toContain(`<strong>${host}</strong>`);
    expect(page.body).toContain('<strong>localhost:54321</strong>');
    const code = locationOf(await world.decide(ada, page)).searchParams.get('code')!;
    serve('gone', {}, 410);
    world.clock.turn(seconds(30));
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: id };
    const { status, body } = await world.token({ ...grant, redirect_uri: 'http://localhost:54321/callback' });
    expect([status, body.scope]).toEqual([200, 'missions:read missions:run offline_access']);
    world.clock.turn(days(2));
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: id };
    expect((await world.token(refresh)).status).toBe(200);
    expect(fetches).toBe(1);
    ada.session = await world.session(ada.person);
  });

  it.each([
    ['as long as its Cache-Control says', 'max-age=600', minutes(10)],
    ['at least a minute', 'max-age=1', minutes(1)],
    ['at least a minute, even if its Cache-Control forbids it', 'no-store', minutes(1)],
    ['a minute without a Cache-Control', undefined, minutes(1)],
    ['a day at most', 'public, max-age=31536000', hours(24)],
  ])('a client metadata document is cached %s', async (_, control, kept) => {
    const visit = await world.visitor('keeper');
    const id = newAddress();
    serve(metadata(id), control === undefined ? {} : { 'cache-control': control });
    const open = async () => {
      const session = await world.session(visit.person);
      return (await world.openPage(request(id).parameters, session)).status;
    };
    expect(await open()).toBe(200);
    world.clock.turn(kept - 1);
    expect([await open(), fetches]).toEqual([200, 1]);
    world.clock.turn(1);
    expect([await open(), fetches]).toEqual([200, 2]);
    ada.session = await world.session(ada.person);
  });

  it('a client metadata document is fetched once for concurrent requests', async () => {
    for (let round = 1; round <= 10; round++) {
      const id = newAddress();
      serve(metadata(id));
      const before = fetches;
      const answers = Array.from({ length: 8 }, () => openPage(id));
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(fetches - before).toBe(1);
    }
  });

  it('unsupported redirect URIs in a client metadata document are ignored', async () => {
    const id = newAddress();
    serve(metadata(id, { redirect_uris: ['http://evil.example/cb', 'javascript:alert(1)', redirectUri] }));
    expect((await openPage(id)).status).toBe(200);
    expectRefused(await openPage(id, { redirect_uri: 'http://evil.example/cb' }));
  });
});

describe('Refused client metadata documents: 400 page, without a redirect', () => {
  it.each([
    ['the scheme is http', (id: string) => id.replace('https', 'http')],
    ['the scheme is in upper case', (id: string) => id.replace('https', 'HTTPS')],
    ['it has no path', (id: string) => new URL(id).origin],
    ['it has no path but a slash', (id: string) => `${new URL(id).origin}/`],
    ['it has dot segments', (id: string) => id.replace('/client', '/x/../client')],
    ['it has encoded dot segments', (id: string) => id.replace('/client', '/x/%2e%2e/client')],
    ['it has a fragment', (id: string) => `${id}#x`],
    ['it has an empty fragment', (id: string) => `${id}#`],
    ['it has a user', (id: string) => id.replace('https://', 'https://me@')],
    ['it ends with a blank', (id: string) => `${id} `],
    ['it is too long', (id: string) => id + 'x'.repeat(2_000)],
  ])('a client_id URL is refused without a fetch: %s', async (_, bend) => {
    const id = bend(newAddress());
    serve(metadata(id));
    expectRefused(await openPage(id));
    expect(fetches).toBe(0);
  });

  it.each([
    ['another client_id', { client_id: 'https://other.example/client.json' }],
    ['no client_id', { client_id: undefined }],
    ['no client_name', { client_name: undefined }],
    ['a client_name that is too long', { client_name: 'x'.repeat(201) }],
    ['a client_name without visible characters', { client_name: '\u202e\u200b' }],
    ['no redirect_uris', { redirect_uris: undefined }],
    ['empty redirect_uris', { redirect_uris: [] }],
    ['redirect_uris that are not a list', { redirect_uris: redirectUri }],
    ['only unsupported redirect_uris', { redirect_uris: ['http://evil.example/cb'] }],
    ['too many redirect_uris', { redirect_uris: Array.from({ length: 21 }, (_, i) => `${redirectUri}/${i}`) }],
    ['a secret', { client_secret: 'x' }],
    ['the expiry of a secret', { client_secret_expires_at: 0 }],
    ['authentication by secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['authentication by key', { token_endpoint_auth_method: 'private_key_jwt' }],
  ])('a client metadata document with %s is refused', async (_, more) => {
    const id = newAddress();
    serve(metadata(id, more));
    expectRefused(await openPage(id));
    expect(fetches).toBe(1);
  });

  it('a redirect URI that the client metadata document does not list is refused', async () => {
    const id = newAddress();
    serve(metadata(id));
    for (const redirect_uri of [
      'http://localhost/other',
      'http://127.0.0.1/callback',
      'https://evil.example/callback',
    ]) {
      expectRefused(await openPage(id, { redirect_uri }));
    }
  });

  const answers: [string, (id: string) => void][] = [
    ['status 404', (id) => serve(metadata(id), {}, 404)],
    ['status 201', (id) => serve(metadata(id), {}, 201)],
    ['a redirect to a valid document', (id) => serve(metadata(id), { location: '/good.json' }, 302)],
    ['HTML', () => serve('<html>')],
    ['a list', () => serve([])],
    ['null', () => serve(null)],
    ['another media type', (id) => serve(metadata(id), { 'content-type': 'text/html' })],
    ['a document that is too large', (id) => serve(metadata(id, { x: 'x'.repeat(maxDocumentBytes) }))],
    [
      'a body that breaks off',
      () => (listener = (_req, res) => void res.writeHead(200, { 'content-length': '9' }).destroy()),
    ],
  ];
  it.each(answers)(
    'a client metadata document is refused when its server answers with %s; the next request fetches it again',
    async (_, answerWith) => {
      const id = newAddress();
      answerWith(id);
      expectRefused(await openPage(id));
      serve(metadata(id));
      expect((await openPage(id)).status).toBe(200);
      expect(fetches).toBe(2);
    },
  );

  it('a client metadata document that is not answered within five seconds is refused', async () => {
    listener = () => {};
    const patience = AbortSignal.timeout.bind(AbortSignal);
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => patience(ms / 100));
    try {
      expectRefused(await openPage(newAddress()));
      expect(timeout).toHaveBeenCalledWith(seconds(5));
    } finally {
      timeout.mockRestore();
    }
  });

  it.each([
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['127.0.0.1'],
    ['192.168.1.1', '93.184.215.14'],
  ])(
    'a client metadata document on a host that resolves to %s is refused without a connection',
    async (...addresses) => {
      const resolve = async () =>
        addresses.filter(Boolean).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      openOutbound({ allowLoopback: false, ca: certificate.cert, resolve, extraPorts: [Number(host.split(':')[1])] });
      const id = newAddress().replace('localhost', 'client.example');
      serve(metadata(id));
      expectRefused(await openPage(id));
      expect(fetches).toBe(0);
    },
  );

  it('a client metadata document is fetched from the address that was checked, even if the host then resolves to another', async () => {
    let questions = 0;
    const resolve = async () => [{ address: questions++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
    openOutbound({ allowLoopback: true, ca: certificate.cert, resolve });
    const id = newAddress().replace('localhost', 'client.example');
    serve(metadata(id));
    expect((await openPage(id)).status).toBe(200);
    expect([questions, fetches]).toEqual([1, 1]);
  });
});

describe('Limits of client metadata documents', () => {
  it('429 page · one network can cause a limited number of document fetches; a cached document does not count', async () => {
    const kept = newAddress();
    serve(metadata(kept));
    expect((await openPage(kept)).status).toBe(200);
    serve('', {}, 404);
    let answer = await openPage(newAddress());
    for (let i = 0; answer.status === 400 && i <= rates.clientDocumentsPerMinute; i++)
      answer = await openPage(newAddress());
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await openPage(kept)).status).toBe(200);
  });
});
