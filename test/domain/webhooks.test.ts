// Webhooks against receivers on this machine: signatures, retries, answers of every kind, endpoints that are slow or gone.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { retryDelaysMs } from '#domain/lifecycle/webhooks/bounds.ts';
import { deliverWebhooks, webhooksSettled } from '#domain/lifecycle/webhooks/deliver.ts';
import { sweepWebhookDeliveries, writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, now, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createProject } from '../support/callers.ts';
import { makeCertificate } from '../support/certificate.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let world: World;
let acme: Organization;
let alice: Person;
let session: Session;
let receiver: Server;
let received: Received[] = [];
/** The answer of each address of the receiver; 200 without one. */
let answers: Record<string, (res: ServerResponse) => void> = {};

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  world = await openWorld();
  // The library that verifies signatures uses the clock of the machine.
  world.clock.turn(Date.now() - now());
  alice = await world.person('Alice');
  acme = await world.found(alice, 'Acme');
  receiver = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    received.push({ path: req.url!, headers: req.headers, body });
    const answer = answers[req.url!] ?? ((to) => to.end('thanks'));
    answer(res);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  receiver.closeAllConnections();
  await Promise.all([world.close(), new Promise((resolve) => receiver.close(resolve))]);
});
beforeEach(async () => {
  await world.knex('webhook_endpoints').delete();
  session = await world.session(alice, acme.id);
  [received, answers] = [[], {}];
});

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
const base = '/webhook-endpoints';
const addressOf = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
async function create(path: string, more: object = {}): Promise<{ id: string; secret: string }> {
  const body = { name: path, url: addressOf(path), types: ['invite.*'], ...more };
  const answer = await world.rest('POST', base, { session, body });
  expect(answer.status).toBe(201);
  return { id: answer.body.endpoint.id, secret: answer.body.secret };
}
const get = async (path: string): Promise<Body> => (await world.rest('GET', base + path, { session })).body;
const listOf = async (id: string): Promise<Body[]> => (await get(`/${id}/deliveries`)).data;
let invited = 0;
const invite = async (): Promise<string> => {
  const body = { email: `webhook-${++invited}@example.com`, role: 'viewer' };
  return (await world.rest('POST', '/invites', { session, body })).body.id;
};
/** Writes and sends all deliveries that are due, as the jobs of the scheduler do every second. */
async function deliver(): Promise<void> {
  await numberChanges(acme.id);
  await writeWebhookDeliveries();
  await deliverWebhooks();
  await webhooksSettled();
}
const signatureOf = (secret: string, { headers, body }: Received): string =>
  new Webhook(secret).sign(
    headers['webhook-id'] as string,
    new Date(seconds(Number(headers['webhook-timestamp']))),
    body,
  );

describe('A webhook event', () => {
  it('is sent signed, once, to each endpoint that chose its type and project, and the answer of the endpoint is stored', async () => {
    const token = await world.token(alice, acme);
    const [shop, other] = [
      await createProject(world, { token }, 'Shop'),
      await createProject(world, { token }, 'Other'),
    ];
    const { id, secret } = await create('/invites');
    const project = await create('/shop', { types: [], projectIds: [shop] });
    const inviteId = await invite();
    for (const projectId of [shop, other])
      await world.rest('PATCH', `/projects/${projectId}`, {
        session,
        body: { name: `Renamed ${projectId.slice(-4)}` },
      });
    await deliver();
    await deliver();
    const sent = received.find(({ path }) => path === '/invites')!;
    const verified = new Webhook(secret).verify(sent.body, sent.headers as Record<string, string>) as Body;
    const event = (await world.rest('GET', '/events?after=0&types=invite.created', { session })).body.data.at(-1);
    expect(verified).toEqual({
      ...{ type: 'invite.created', timestamp: new Date(event.occurredAt).toISOString(), data: event },
    });
    expect(event.subject.id).toBe(inviteId);
    const { body: document } = await world.rest('GET', '/openapi.json');
    expect(document.webhooks.event.post.parameters.map(({ name }: Body) => sent.headers[name])).toEqual([
      `${acme.id}_${event.number}`,
      String(Math.floor(now() / seconds(1))),
      signatureOf(secret, sent),
    ]);
    const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'openapi', ...document });
    formats.default(ajv);
    expect(ajv.validate({ $ref: 'openapi#/components/schemas/WebhookMessage' }, verified), ajv.errorsText()).toBe(true);
    expect(received.map(({ path, body }) => [path, JSON.parse(body).type]).sort()).toEqual([
      ['/invites', 'invite.created'],
      ['/shop', 'project.updated'],
    ]);
    expect(await listOf(id)).toEqual([
      {
        ...{ id: expect.stringMatching(/^whd_/), orgId: acme.id, endpointId: id, number: event.number },
        ...{
          messageId: sent.headers['webhook-id'],
          type: 'invite.created',
          status: 'delivered',
          attempts: 1,
          dueAt: null,
          attemptedAt: now(),
        },
        ...{ durationMs: expect.any(Number), body: sent.body, answerStatus: 200, answerBody: 'thanks', error: null },
        ...{ resendOf: null, createdAt: now() },
      },
    ]);
    expect((await listOf(project.id)).map(({ type }) => type)).toEqual(['project.updated']);
    const [stored] = await world.knex('webhook_endpoints').where({ id });
    expect(JSON.stringify(stored)).not.toContain(secret.slice(6));
    expect(JSON.stringify(await get(`/${id}`))).not.toContain('secret');
  });

  it('can be sent again by a person, with the same id', async () => {
    const { id } = await create('/again');
    await invite();
    await deliver();
    const [first] = await listOf(id);
    const answer = await world.rest('POST', `${base}/${id}/deliveries/${first.id}/resend`, { session });
    expect(answer).toMatchObject({
      status: 201,
      body: { resendOf: first.id, status: 'pending', number: first.number },
    });
    await deliver();
    expect(received).toHaveLength(2);
    expect(received[1]!.headers['webhook-id']).toBe(received[0]!.headers['webhook-id']);
    expect(received[1]!.body).toBe(received[0]!.body);
    expect((await listOf(id)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
  });

  it('can be sent again together with other events of a period: those that have failed, or all', async () => {
    const { id } = await create('/range');
    answers['/range'] = (res) => res.writeHead(received.length === 1 ? 410 : 200).end();
    const resend = (body: object) => world.rest('POST', `${base}/${id}/resend`, { session, body });
    for (const n of [1, 2, 3]) {
      world.clock.turn(seconds(10));
      await invite();
      await deliver();
      if (n === 1) await world.rest('PATCH', `${base}/${id}`, { session, body: { enabled: true } });
    }
    const ids = () => received.map(({ headers }) => headers['webhook-id']);
    const [first, ...others] = ids();
    const status = 'failed';
    expect((await resend({ createdFrom: 0, status })).body).toEqual({ count: 1 });
    expect((await resend({ createdFrom: now() - seconds(10), createdBefore: now() })).body).toEqual({ count: 1 });
    await deliver();
    expect(ids()).toEqual([first, ...others, first, others[0]]);
    const [event] = (await world.rest('GET', '/audit-events?action=webhook_endpoint.resent', { session })).body.data;
    expect(event).toMatchObject({ targets: [{ id }], changes: [{ path: 'deliveries', after: 1 }] });
    expect(await resend({ createdFrom: 0, createdBefore: 1 })).toMatchObject({ status: 200, body: { count: 0 } });
    expect(await resend({ createdFrom: 0, status: 'pending' })).toMatchObject({
      status: 400,
      body: { description: 'status: must be "delivered" or "failed".' },
    });
    await world.knex.raw(
      `insert into webhook_deliveries (id, org_id, endpoint_id, number, type, status, attempts, due_at, body, created_at)
       select 'whd_' || n, ?, ?, 1e6 + n, 'run.completed', 'pending', 0, 8e12, '{}', 0 from generate_series(1, 998) n`,
      [acme.id, id],
    );
    expect(await resend({ createdFrom: 0 })).toMatchObject({
      status: 409,
      body: { description: 'An endpoint can have at most 1000 waiting deliveries. Choose a shorter period.' },
    });
    expect((await resend({ createdFrom: 0, status })).body).toEqual({ count: 1 });
    // Further events stay in the log until the endpoint has answered.
    for (const _ of [1, 2]) await invite();
    await numberChanges(acme.id);
    await writeWebhookDeliveries();
    const waiting = world.knex('webhook_deliveries').where({ endpointId: id, status: 'pending' });
    expect(await waiting.clone().count()).toEqual([{ count: 1_000 }]);
    await waiting.clone().where({ dueAt: 8e12 }).delete();
    await deliver();
    expect(received).toHaveLength(8);
  });

  it('waits for earlier events where the endpoint requires the order', async () => {
    const { id } = await create('/ordered', { ordered: true });
    answers['/ordered'] = (res) => res.writeHead(received.length === 1 ? 500 : 200).end();
    for (const _ of [1, 2, 3]) await invite();
    await deliver();
    world.clock.turn(seconds(5));
    await deliver();
    expect(received).toHaveLength(1);
    world.clock.turn(seconds(1));
    await deliver();
    const [first, ...others] = received.map(({ body }) => JSON.parse(body).data.number);
    expect(others).toEqual([first, first + 1, first + 2]);
    expect((await listOf(id)).map(({ status, number }) => [status, number - first])).toEqual([
      ['delivered', 2],
      ['delivered', 1],
      ['delivered', 0],
    ]);
  });

  it('is sent again on the schedule of Standard Webhooks, with one id, until all attempts have failed', async () => {
    const { id } = await create('/failing');
    answers['/failing'] = (res) => res.writeHead(500).end('broken');
    await invite();
    for (const [i, delay] of retryDelaysMs.entries()) {
      await deliver();
      const [delivery] = await listOf(id);
      expect(delivery).toMatchObject({ status: 'pending', attempts: i + 1, answerStatus: 500, answerBody: 'broken' });
      expect(delivery.dueAt - now()).toBeGreaterThanOrEqual(delay);
      expect(delivery.dueAt - now()).toBeLessThanOrEqual(delay * 1.1 + 1);
      await deliver();
      world.clock.turn(delivery.dueAt - now());
      session = await world.session(alice, acme.id);
    }
    await deliver();
    expect(await listOf(id)).toMatchObject([{ status: 'failed', attempts: 10, dueAt: null }]);
    expect(received).toHaveLength(10);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await get(`/${id}`)).toMatchObject({ enabled: true, failingSince: expect.any(Number) });
    world.clock.turn(days(31));
    session = await world.session(alice, acme.id);
    await sweepWebhookDeliveries();
    expect(await listOf(id)).toEqual([]);
  });

  it('waits for the time in Retry-After, as do all other events of the endpoint', async () => {
    const { id } = await create('/busy');
    answers['/busy'] = (res) => res.writeHead(503, { 'retry-after': '3600' }).end();
    await invite();
    await deliver();
    expect((await listOf(id))[0].dueAt).toBe(now() + hours(1));
    await invite();
    world.clock.turn(seconds(3_599));
    await deliver();
    expect(received).toHaveLength(1);
    delete answers['/busy'];
    world.clock.turn(seconds(1));
    await deliver();
    expect((await listOf(id)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(await get(`/${id}`)).toMatchObject({ failingSince: null });
  });

  it.each(['url', 'enabled', 'resend'])(
    'is sent before the end of Retry-After once a person corrects: %s',
    async (how) => {
      const { id } = await create('/wrong', { ordered: true });
      await invite();
      await deliver();
      world.clock.turn(seconds(1));
      answers['/wrong'] = (res) => res.writeHead(503, { 'retry-after': '86400' }).end();
      await invite();
      await deliver();
      const [waiting, first] = await listOf(id);
      answers = {};
      const patch = (body: object) => world.rest('PATCH', `${base}/${id}`, { session, body });
      if (how === 'url') await patch({ url: addressOf('/right') });
      else if (how === 'enabled') for (const enabled of [false, true]) await patch({ enabled });
      else await world.rest('POST', `${base}/${id}/deliveries/${first.id}/resend`, { session });
      // The lease of a worker that may be running is left to it.
      await deliver();
      expect(received).toHaveLength(2);
      world.clock.turn(seconds(30));
      await deliver();
      expect(received).toHaveLength(3);
      const sent = how === 'resend' ? first : waiting;
      expect([received[2]!.path, received[2]!.headers['webhook-id']]).toEqual([
        how === 'url' ? '/right' : '/wrong',
        sent.messageId,
      ]);
    },
  );

  it.each([
    [
      'a redirect',
      (res: ServerResponse) => res.writeHead(302, { location: addressOf('/elsewhere') }).end(),
      { answerStatus: 302, error: null },
    ],
    [
      'a closed connection',
      (res: ServerResponse) => res.destroy(),
      { answerStatus: null, error: 'The connection failed: ECONNRESET.' },
    ],
  ])('does not count as delivered after %s', async (_, answer, expected) => {
    const { id } = await create('/odd');
    answers['/odd'] = answer;
    await invite();
    await deliver();
    expect(await listOf(id)).toMatchObject([{ status: 'pending', ...expected }]);
    expect(received.map(({ path }) => path)).toEqual(['/odd']);
  });

  it('counts as delivered after an endless answer, whose beginning is stored', async () => {
    const { id } = await create('/endless');
    answers['/endless'] = (res) => {
      const more = () =>
        void (res.destroyed || (res.write('x'.repeat(65_536)) ? setImmediate(more) : res.once('drain', more)));
      more();
    };
    await invite();
    await deliver();
    const [delivery] = await listOf(id);
    expect([delivery.status, delivery.answerBody.length]).toEqual(['delivered', 4_096]);
  });

  it('does not count as delivered without an answer within the time limit', async () => {
    const { id } = await create('/silent');
    answers['/silent'] = () => {};
    await invite();
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
    limit.mockImplementationOnce((milliseconds) => {
      expect(milliseconds).toBe(seconds(15));
      const abort = new AbortController();
      void vi.waitFor(() => expect(received).toHaveLength(1)).then(() => abort.abort());
      return abort.signal;
    });
    await deliver().finally(() => limit.mockRestore());
    expect(await listOf(id)).toMatchObject([
      { status: 'pending', error: 'There was no complete answer within 15 seconds.' },
    ]);
  });

  it('is not sent to a server without a valid certificate', async () => {
    const server = createSecureServer(makeCertificate(), (_, res) => res.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { id } = await create('', {
      name: 'TLS',
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    });
    await invite();
    await deliver().finally(() => server.close());
    expect(await listOf(id)).toMatchObject([
      { status: 'pending', error: 'The certificate is not accepted: DEPTH_ZERO_SELF_SIGNED_CERT.' },
    ]);
  });

  it('is never sent to an address that has become private', async () => {
    const { id } = await create('/private');
    await invite();
    openOutbound({ allowLoopback: false });
    await deliver().finally(() => openOutbound({ allowLoopback: true }));
    expect(await listOf(id)).toMatchObject([
      {
        answerStatus: null,
        error: 'The address is not an https address of a public host, or does not answer with HTTP.',
      },
    ]);
    expect(received).toEqual([]);
  });
});

describe('A webhook endpoint', () => {
  const notices = async (): Promise<string[]> =>
    (await world.rest('GET', '/notices', { session })).body.notices
      .map(({ title }: Body) => title)
      .filter((title: string) => title.includes('webhook'));

  it('that answers 410 is disabled with a notice, and continues where it stopped once a person enables it', async () => {
    const { id } = await create('/gone');
    answers['/gone'] = (res) => res.writeHead(410).end();
    await invite();
    await deliver();
    expect(await get(`/${id}`)).toMatchObject({ enabled: false, disabledReason: 'gone', disabledAt: now() });
    expect(await listOf(id)).toMatchObject([{ status: 'failed', attempts: 1 }]);
    expect(await notices()).toEqual(['The webhook “/gone” is disabled']);
    await invite();
    await deliver();
    expect(received).toHaveLength(1);
    delete answers['/gone'];
    world.clock.turn(seconds(6));
    await world.rest('PATCH', `${base}/${id}`, { session, body: { enabled: true } });
    await deliver();
    expect((await listOf(id)).map(({ status }) => status)).toEqual(['delivered', 'failed']);
    expect(await notices()).toEqual([]);
  });

  it('that has failed for five days is disabled with a notice', async () => {
    const { id } = await create('/dead');
    answers['/dead'] = (res) => res.writeHead(500).end();
    await invite();
    await deliver();
    await world
      .knex('webhook_endpoints')
      .where({ id })
      .update({ failingSince: now() - days(5) });
    world.clock.turn(hours(1));
    await deliver();
    expect(await get(`/${id}`)).toMatchObject({ enabled: false, disabledReason: 'failing' });
    expect(await notices()).toEqual(['The webhook “/dead” is disabled']);
  });

  it('that is slow delays no other endpoint, and gets requests from one worker at a time', async () => {
    await create('/slow');
    const waiting: ServerResponse[] = [];
    answers['/slow'] = (res) => void waiting.push(res);
    await invite();
    await numberChanges(acme.id);
    await writeWebhookDeliveries();
    await Promise.all([deliverWebhooks(), deliverWebhooks()]);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    await create('/fast');
    for (const _ of [1, 2]) await invite();
    await numberChanges(acme.id);
    await writeWebhookDeliveries();
    await Promise.all([deliverWebhooks(), deliverWebhooks()]);
    await vi.waitFor(() => expect(received.filter(({ path }) => path === '/fast')).toHaveLength(2));
    expect(waiting).toHaveLength(1);
    answers = {};
    waiting[0]!.end();
    await webhooksSettled();
    expect(received.filter(({ path }) => path === '/slow')).toHaveLength(3);
  });

  it('is not delayed by many endpoints of other organizations that do not answer', async () => {
    const waiting: ServerResponse[] = [];
    const perOrganization = 11;
    for (const name of ['Hooli', 'Initech', 'Umbrella']) {
      const { id: orgId } = await world.found(alice, name);
      session = await world.session(alice, orgId);
      for (let n = 0; n < perOrganization; n++) {
        const { id: endpointId } = await create(`/${name}`);
        const delivery = { orgId, endpointId, number: 1, type: 'invite.created', status: 'pending', attempts: 0 };
        const id = `whd_${endpointId}`;
        await world.knex('webhook_deliveries').insert({ ...delivery, id, body: '{}', dueAt: now(), createdAt: now() });
      }
      answers[`/${name}`] = (res) => void waiting.push(res);
    }
    const countOf = (name: string) => received.filter(({ path }) => path === `/${name}`).length;
    await deliverWebhooks();
    await vi.waitFor(() => expect(waiting).toHaveLength(30));
    expect(['Hooli', 'Initech', 'Umbrella'].map(countOf)).toEqual([10, 10, 10]);
    for (const res of waiting) res.writeHead(500).end();
    await webhooksSettled();
    world.clock.turn(seconds(6));
    [received, waiting.length] = [[], 0];
    await world.knex('webhook_deliveries').update({ dueAt: now() });
    session = await world.session(alice, acme.id);
    await create('/healthy');
    await invite();
    await numberChanges(acme.id);
    await writeWebhookDeliveries();
    await deliverWebhooks();
    await vi.waitFor(() => expect(received).toHaveLength(29));
    expect([waiting.length, countOf('healthy')]).toEqual([28, 1]);
    for (const res of waiting) res.end();
    await webhooksSettled();
  });

  it('gets each event at least once when its worker dies between the answer and the record of it', async () => {
    const { id } = await create('/lost');
    await invite();
    await deliver();
    // The lease belongs to a process that has died before it recorded the answer.
    await world
      .knex('webhook_deliveries')
      .where({ endpointId: id })
      .update({ status: 'pending', dueAt: now(), attempts: 0 });
    await world
      .knex('webhook_endpoints')
      .where({ id })
      .update({ claimedUntil: now() + seconds(30) });
    await deliver();
    expect(received).toHaveLength(1);
    world.clock.turn(seconds(30));
    await deliver();
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([
      expect.any(String),
      received[0]!.headers['webhook-id'],
    ]);
  });

  it('gets signatures with both secrets for a day after its secret was changed', async () => {
    const { id, secret } = await create('/rotated');
    const { body } = await world.rest('PUT', `${base}/${id}/secret`, { session });
    await invite();
    await deliver();
    const both = [body.secret, secret].map((one) => signatureOf(one, received[0]!)).join(' ');
    expect(received[0]!.headers['webhook-signature']).toBe(both);
    world.clock.turn(hours(24));
    await invite();
    await deliver();
    expect(received[1]!.headers['webhook-signature']).toBe(signatureOf(body.secret, received[1]!));
  });

  it.each([
    [{ url: 'http://10.0.0.1/' }, 400, 'url: must be an https address of a public host.'],
    [{ url: 'no address' }, 400, 'url: must be an https address of a public host.'],
    [{ types: ['rnu.completed'] }, 400, 'types.0: must be `noun.verb`, or a noun of the audit log and `.*`.'],
    [{ name: '' }, 400, 'name: must be at least 1 character.'],
    [{ projectIds: ['prj_none'] }, 404, 'No such project.'],
  ])('is refused with %j, and nothing is written', async (changes, status, description) => {
    const body = { name: 'Bad', url: addressOf('/bad'), ...changes };
    const answer = await world.rest('POST', base, { session, body });
    expect([answer.status, answer.body.description]).toEqual([status, description]);
    expect((await get('')).data).toEqual([]);
  });

  it('is changed only by admins; one organization has at most 20 of them', async () => {
    const member = await world.person('Member');
    await world.join(acme, member, 'member');
    const refused = await world.rest('GET', base, { session: await world.session(member, acme.id) });
    expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);
    for (let i = 0; i < 20; i++) await create(`/many-${i}`);
    const { status } = await world.rest('POST', base, { session, body: { name: 'More', url: addressOf('/more') } });
    expect(status).toBe(409);
  });
});
