// Endpoints of webhooks: slow and dead ones, a worker that dies, a changed secret, and who may change endpoints.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { leaseMs } from '#domain/lifecycle/webhooks/bounds.ts';
import { deliverWebhooks, webhooksSettled } from '#domain/lifecycle/webhooks/deliver.ts';
import { writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import { days, hours, now, seconds } from '#foundation/clock.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { type Body, base, openWebhookWorld, signatureOf } from '../support/webhook-world.ts';

const { world, acme, alice, received, answers, addressOf, ask, create, get, listOf, invite, deliver, close, reset } =
  await openWebhookWorld();
afterAll(close);
beforeEach(reset);

describe('webhook endpoints', () => {
  const notices = async (): Promise<string[]> =>
    (await ask('GET', '/notices')).body.notices
      .map(({ title }: Body) => title)
      .filter((title: string) => title.includes('webhook'));

  it('a test of a webhook endpoint sends a signed event at once and stores the answer, even for a disabled endpoint', async () => {
    const { id, secret } = await create('/tested', { ordered: true });
    await create('/others', { types: ['webhook_endpoint.*'] });
    const test = () => ask('POST', `${base}/${id}/test`);
    const accepted = await test();
    expect(accepted.status).toBe(201);
    const [sent] = received;
    expect(sent!.headers['webhook-signature']).toBe(signatureOf(secret, sent!));
    const { data: event } = JSON.parse(sent!.body);
    expect(event).toMatchObject({ type: 'webhook_endpoint.tested', subject: { type: 'webhook_endpoint', id } });
    expect(accepted.body).toMatchObject({
      ...{ number: event.number, messageId: `${acme.id}_${event.number}`, type: event.type, body: sent!.body },
      ...{ status: 'delivered', attempts: 1, dueAt: null, answerStatus: 200, answerBody: 'thanks', resendOf: null },
    });
    answers['/tested'] = (res) => res.writeHead(410).end('gone');
    await ask('PATCH', `${base}/${id}`, { enabled: false });
    expect((await test()).body).toMatchObject({
      ...{ status: 'failed', attempts: 1, dueAt: null, answerStatus: 410, answerBody: 'gone' },
    });
    expect(await get(`/${id}`)).toMatchObject({ disabledReason: 'person', failingSince: null });
    delete answers['/tested'];
    await ask('PATCH', `${base}/${id}`, { enabled: true, types: [] });
    await invite();
    await deliver();
    const types = (path: string) => received.flatMap((one) => (one.path === path ? JSON.parse(one.body).type : []));
    expect(types('/tested').filter((one) => one === event.type)).toHaveLength(2);
    expect(types('/tested')).toContain('invite.created');
    expect(types('/others').filter((one) => one === event.type)).toHaveLength(2);
  });

  it('409 · only one test of a webhook endpoint runs at a time; a job repeats a test that a dead process has left behind', async () => {
    const { id } = await create('/late');
    const waiting: ServerResponse[] = [];
    answers['/late'] = (res) => void waiting.push(res);
    const first = ask('POST', `${base}/${id}/test`);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    expect(await ask('POST', `${base}/${id}/test`)).toMatchObject({
      status: 409,
      body: { description: 'A test event of this endpoint is still waiting for its response.' },
    });
    waiting[0]!.end();
    expect((await first).body.status).toBe('delivered');
    await world.knex('webhook_deliveries').update({ status: 'pending', attempts: 0, dueAt: now() + leaseMs });
    delete answers['/late'];
    await deliver();
    expect(received).toHaveLength(1);
    world.clock.turn(leaseMs);
    await deliver();
    expect(received).toHaveLength(2);
    expect(await listOf(id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('a webhook endpoint that answers 410 is disabled with a notice, and continues where it stopped once a person enables it', async () => {
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
    await ask('PATCH', `${base}/${id}`, { enabled: true });
    await deliver();
    expect((await listOf(id)).map(({ status }) => status)).toEqual(['delivered', 'failed']);
    expect(await notices()).toEqual([]);
  });

  it('a webhook endpoint that has failed for five days is disabled with a notice', async () => {
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

  it('a slow webhook endpoint delays no other endpoint, and gets requests from one worker at a time', async () => {
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
    delete answers['/slow'];
    waiting[0]!.end();
    await webhooksSettled();
    expect(received.filter(({ path }) => path === '/slow')).toHaveLength(3);
  });

  it('a webhook endpoint is not delayed by many endpoints of other organizations that do not answer', async () => {
    const waiting: ServerResponse[] = [];
    const perOrganization = 11;
    for (const name of ['Hooli', 'Initech', 'Umbrella']) {
      const { organization } = await createOwner(world, alice, name);
      const orgId = organization.id;
      for (let n = 0; n < perOrganization; n++) {
        const { id: endpointId } = await create(`/${name}`, {}, orgId);
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
    received.length = waiting.length = 0;
    await world.knex('webhook_deliveries').update({ dueAt: now() });
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

  it('a webhook event is sent again when its worker died after the answer and before recording it', async () => {
    const { id } = await create('/lost');
    await invite();
    await deliver();
    // The lease belongs to a process that died before it recorded the response.
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

  it('events are signed with both secrets for a day after the secret of a webhook endpoint was changed', async () => {
    const { id, secret } = await create('/rotated');
    const { body } = await ask('PUT', `${base}/${id}/secret`);
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
    [{ url: 'http://10.0.0.1/' }, 400, 'url: must be an https URL of a public host.'],
    [{ url: 'no address' }, 400, 'url: must be an https URL of a public host.'],
    [
      { types: ['rnu.completed'] },
      400,
      'types.0: must be a type such as `run.completed`, or a kind of record followed by `.*`.',
    ],
    [{ name: '' }, 400, 'name: must be at least 1 character.'],
    [{ projectIds: ['prj_none'] }, 404, 'No such project.'],
  ])('a webhook endpoint is refused with %j, and nothing is written', async (changes, status, description) => {
    const body = { name: 'Bad', url: addressOf('/bad'), ...changes };
    const answer = await ask('POST', base, body);
    expect([answer.status, answer.body.description]).toEqual([status, description]);
    expect((await get('')).data).toEqual([]);
  });

  it('403, 409 · a member cannot list webhook endpoints, and an organization has at most 20 of them', async () => {
    const { person: member } = await createMember(world, acme, 'Member', 'member');
    const refused = await world.rest('GET', base, { session: await world.session(member, acme.id) });
    expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);
    for (let i = 0; i < 20; i++) await create(`/many-${i}`);
    const { status } = await ask('POST', base, { name: 'More', url: addressOf('/more') });
    expect(status).toBe(409);
  });
});
