// Webhook events: signatures, order, retries, and receivers that respond oddly, late or not at all.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { retryDelaysMs } from '#domain/lifecycle/webhooks/bounds.ts';
import { sweepWebhookDeliveries, writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import { days, hours, now, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createProject } from '../support/callers.ts';
import { makeCertificate } from '../support/certificate.ts';
import { type Body, base, openWebhookWorld, signatureOf } from '../support/webhook-world.ts';

const { world, acme, alice, received, answers, addressOf, ask, create, get, listOf, invite, deliver, close, reset } =
  await openWebhookWorld();
afterAll(close);
beforeEach(reset);

describe('webhook events', () => {
  it('a webhook event is sent signed, once, to each endpoint that chose its type or project, and the answer is stored', async () => {
    const token = await world.token(alice, acme);
    const [shop, other] = [
      await createProject(world, { token }, 'Shop'),
      await createProject(world, { token }, 'Other'),
    ];
    const { id, secret } = await create('/invites');
    const project = await create('/shop', { types: [], projectIds: [shop] });
    const inviteId = await invite();
    for (const projectId of [shop, other])
      await ask('PATCH', `/projects/${projectId}`, { name: `Renamed ${projectId.slice(-4)}` });
    await deliver();
    await deliver();
    const sent = received.find(({ path }) => path === '/invites')!;
    const verified = new Webhook(secret).verify(sent.body, sent.headers as Record<string, string>) as Body;
    const event = (await ask('GET', '/events?after=0&types=invite.created')).body.data.at(-1);
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

  it('a person can send a webhook event again, with the same id', async () => {
    const { id } = await create('/again');
    await invite();
    await deliver();
    const [first] = await listOf(id);
    const answer = await ask('POST', `${base}/${id}/deliveries/${first.id}/resend`);
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

  it('a person can send the webhook events of a period again: those that have failed, or all', async () => {
    const { id } = await create('/range');
    answers['/range'] = (res) => res.writeHead(received.length === 1 ? 410 : 200).end();
    const resend = (body: object) => ask('POST', `${base}/${id}/resend`, body);
    for (const n of [1, 2, 3]) {
      world.clock.turn(seconds(10));
      await invite();
      await deliver();
      if (n === 1) await ask('PATCH', `${base}/${id}`, { enabled: true });
    }
    const ids = () => received.map(({ headers }) => headers['webhook-id']);
    const [first, ...others] = ids();
    const status = 'failed';
    expect((await resend({ createdFrom: 0, status })).body).toEqual({ count: 1 });
    expect((await resend({ createdFrom: now() - seconds(10), createdBefore: now() })).body).toEqual({ count: 1 });
    await deliver();
    expect(ids()).toEqual([first, ...others, first, others[0]]);
    const [event] = (await ask('GET', '/audit-events?action=webhook_endpoint.resent')).body.data;
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
      body: {
        description: 'An endpoint can have at most 1000 waiting deliveries. Repeat the deliveries of a shorter period.',
      },
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

  it('a webhook event waits for earlier ones if its endpoint requires events in order', async () => {
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

  it('a webhook event is sent again on the schedule of Standard Webhooks, with one id, until all attempts have failed', async () => {
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
    }
    await deliver();
    expect(await listOf(id)).toMatchObject([{ status: 'failed', attempts: 10, dueAt: null }]);
    expect(received).toHaveLength(10);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await get(`/${id}`)).toMatchObject({ enabled: true, failingSince: expect.any(Number) });
    world.clock.turn(days(31));
    await sweepWebhookDeliveries();
    expect(await listOf(id)).toEqual([]);
  });

  it('webhook events of an endpoint wait for the time in its Retry-After', async () => {
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
    'when a webhook event waits because an endpoint has answered with Retry-After, an action of a person (%s) ends this wait',
    async (how) => {
      const { id } = await create('/wrong', { ordered: true });
      await invite();
      await deliver();
      world.clock.turn(seconds(1));
      answers['/wrong'] = (res) => res.writeHead(503, { 'retry-after': '86400' }).end();
      await invite();
      await deliver();
      const [waiting, first] = await listOf(id);
      delete answers['/wrong'];
      const patch = (body: object) => ask('PATCH', `${base}/${id}`, body);
      if (how === 'url') await patch({ url: addressOf('/right') });
      else if (how === 'enabled') for (const enabled of [false, true]) await patch({ enabled });
      else await ask('POST', `${base}/${id}/deliveries/${first.id}/resend`);
      // The lease is not taken over, because its worker may still be running.
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
  ])('a webhook event does not count as delivered after %s', async (_, answer, expected) => {
    const { id } = await create('/odd');
    answers['/odd'] = answer;
    await invite();
    await deliver();
    expect(await listOf(id)).toMatchObject([{ status: 'pending', ...expected }]);
    expect(received.map(({ path }) => path)).toEqual(['/odd']);
  });

  it('a webhook event counts as delivered when the answer is endless, and the beginning of the answer is stored', async () => {
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

  it('a webhook event does not count as delivered without an answer within 15 seconds', async () => {
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

  it('a webhook event is not sent to a server without a valid certificate', async () => {
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

  it('a webhook event is not sent to a host whose IP address has become private', async () => {
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
