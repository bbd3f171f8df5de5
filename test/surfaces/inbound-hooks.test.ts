// Hooks for events from any system: signed deliveries, the filters and the templates that rules contain, previews of rules, and disabled
// hooks.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepDeliveries } from '#domain/work/inbound/deliveries.ts';
import { processDelivery } from '#domain/work/inbound/process.ts';
import { retryDeliveries } from '#domain/work/inbound/retry.ts';
import { deliveryRetentionMs } from '#domain/work/inbound-hooks/bounds.ts';
import { days, minutes } from '#foundation/clock.ts';
import { hex, openInboundWorld, person, type Sent } from '../support/inbound-world.ts';
import { present } from '../support/world.ts';

const {
  world,
  github,
  owner,
  viewer,
  stranger,
  project,
  hook,
  nextEvent,
  newHook,
  automation,
  send,
  deliver,
  deliveryPath,
  delivery,
  runs,
  labeled,
  close,
  reset,
  check,
} = await openInboundWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

describe('Events of any system', () => {
  const standard = (secret: string, body: string, id: string, time: number) => ({
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${time}.${body}`)
      .digest('base64')}`,
  });
  const error = (level: string, culprit: string) =>
    JSON.stringify({ type: 'error', data: { level, culprit, n: nextEvent() } });

  it('a webhook event that matches a rule’s filter starts a mission with the filled template, once for each key', async () => {
    const to = await newHook({ vendor: 'webhook' });
    const rule = {
      ...{ kind: 'webhook', hookId: to.id, filter: "data.level == 'fatal'", key: 'data.culprit' },
      template: 'Error in {{ data.culprit }}{{ data.absent }}: {{ data }}',
    };
    await automation([rule]);
    const sign = (body: string, id = `w${nextEvent()}`) => ({
      ...{ to, headers: standard(to.secret, body, id, Math.floor(present() / 1_000)) },
    });
    const report = (body: string) => deliver('', body, sign(body));
    expect(await report(error('fatal', 'cart.js'))).toMatchObject({ status: 'started', event: 'error' });
    expect((await runs())[0].issueText).toMatch(/^Error in cart\.js: \{\n "level": "fatal"/);
    expect(await report(error('fatal', 'cart.js'))).toMatchObject({ status: 'ignored' });
    expect(await report(error('info', 'pay.js'))).toMatchObject({
      reason: 'No rule matched: Work: the filter does not match.',
    });
    expect(await report(error('fatal', 'pay.js'))).toMatchObject({ status: 'started' });
    const body = error('fatal', 'x.js');
    const old = standard(to.secret, body, 'old', Math.floor(present() / 1_000) - 400);
    expect(await send('', body, { to, headers: old })).toMatchObject({ status: 401 });
    expect(await send('', body, { to, headers: { ...sign(body).headers, 'webhook-id': 'other' } })).toMatchObject({
      ...{ status: 401 },
    });
  });

  it('a webhook event may be a form, with its signature in a header that the hook names', async () => {
    const to = await newHook({
      vendor: 'webhook',
      signature: 'header',
      signatureHeader: 'X-Form',
      secret: 'secret-of-the-form',
    });
    await automation([{ kind: 'webhook', hookId: to.id, template: '{{ name }} asks: {{ question }}' }]);
    const body = 'name=Eve&question=Why%3F';
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-form': createHmac('sha256', to.secret).update(body).digest('base64'),
    };
    const done = await deliver('', body, { to, headers });
    expect(done.status).toBe('started');
    expect((await runs())[0].issueText).toBe('Eve asks: Why?');
    // If the sender gives no id, a repeated body counts as the same event.
    expect(await send('', body, { to, headers })).toMatchObject({ status: 200, body: { deliveryId: done.id } });
  });

  it('the events that docs/triggers.md shows are accepted: an error report, a failed CI run and a form', async () => {
    const page = readFileSync(new URL('../../docs/triggers.md', import.meta.url), 'utf8');
    const bodies = [...page.matchAll(/^BODY='(.*)'$/gm)].map(([, body]) => body!);
    const rule = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!.replaceAll('\n  "', '"'));
    const [errors, ci, form] = await Promise.all([
      newHook({ vendor: 'webhook' }),
      newHook({ vendor: 'webhook', signature: 'github' }),
      newHook({ vendor: 'webhook', signature: 'header', signatureHeader: 'X-Form' }),
    ]);
    await automation([
      { ...rule, hookId: errors.id },
      ...[ci, form].map(({ id: hookId }) => ({ kind: 'webhook', hookId })),
    ]);
    const error = JSON.stringify({ data: { level: 'fatal', culprit: 'cart.js', title: 'TypeError', stack: 'at buy' } });
    const headers = standard(errors.secret, error, 'e1', Math.floor(present() / 1_000));
    expect(await deliver('', error, { to: errors, headers })).toMatchObject({ status: 'started' });
    expect(await deliver('', bodies[0]!, { to: ci })).toMatchObject({ status: 'started', event: 'build.failed' });
    const signed = hex(form.secret, bodies[1]!).slice('sha256='.length);
    const type = 'application/x-www-form-urlencoded';
    expect(
      await deliver('', bodies[1]!, { to: form, headers: { 'content-type': type, 'x-form': signed } }),
    ).toMatchObject({
      ...{ status: 'started' },
    });
    expect((await runs()).map(({ issueText }) => issueText).sort()).toEqual([
      expect.stringContaining('1 test failed'),
      expect.stringContaining('Why?'),
      'TypeError in cart.js\n\nat buy',
    ]);
  });

  it.each([
    ['pad_left(name, `1000000000`)', 'must not use pad_left and pad_right'],
    ['data.[', 'must be a JMESPath expression'],
  ])('a rule with the invalid filter %s is refused', async (filter, message) => {
    const problem = await automation([{ kind: 'webhook', hookId: hook.id, filter }]);
    expect(problem.description).toContain(`filter`);
    expect(problem.description).toContain(message);
  });

  it('a filter that never ends is stopped, and the event’s reason says that the filter failed', async () => {
    const to = await newHook({ vendor: 'webhook', signature: 'header', signatureHeader: 'X-Form' });
    const filter = `data${'.[@,@][]'.repeat(60)}`;
    expect(await automation([{ kind: 'webhook', hookId: to.id, filter }])).toHaveProperty('id');
    const body = '{"data":{"a":1}}';
    const headers = { 'x-form': createHmac('sha256', to.secret).update(body).digest('hex') };
    expect((await deliver('', body, { to, headers })).reason).toContain('the filter failed: ');
  });
});

describe('Deliveries to a hook', () => {
  it.each<[string, number, object | string, Sent]>([
    ['a forged signature', 401, {}, { signed: `sha256=${'0'.repeat(64)}` }],
    ['no signature', 401, {}, { signed: '' }],
    ['an unknown hook', 404, {}, { to: { id: '', secret: 'x', address: `hooks/hok_${'0'.repeat(32)}` } }],
  ])('a delivery with %s is refused with %i, and not listed', async (_, status, payload, sent) => {
    const to = sent.to && { ...sent.to, address: `${world.url}/${sent.to.address}` };
    expect(await send('issues', payload, { ...sent, ...(to && { to }) })).toMatchObject({ status });
    expect(await world.knex('inbound_deliveries').where({ hookId: hook.id })).toEqual([]);
  });

  it.each<[string, number, Uint8Array<ArrayBuffer> | string, string, string]>([
    ['a body that is not JSON', 400, 'x', 'application/json', 'The body is not valid JSON.'],
    ['a body that is not UTF-8', 400, new Uint8Array([0x22, 0xff]), 'application/json', 'The body is not valid UTF-8.'],
    [
      'a body that is nested too deeply',
      400,
      '['.repeat(70) + ']'.repeat(70),
      'application/json',
      'The body has more than 64 levels',
    ],
    ['another charset', 415, '{}', 'application/json; charset=utf-16', 'Content-Type: must be UTF-8.'],
    ['another type', 415, '{}', 'text/plain', 'Content-Type: must be application/json or'],
    [
      '25 MB',
      413,
      new Uint8Array(25 * 1024 * 1024).fill(0x20),
      'application/json',
      'The body is limited to 1048576 bytes.',
    ],
  ])(
    'a signed delivery with %s is refused with %i, but listed with the reason',
    async (_, status, body, type, reason) => {
      const signed = `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`;
      const headers = { 'content-type': type, 'x-github-event': 'issues' };
      const post = (signature: string) =>
        fetch(hook.address, { method: 'POST', body, headers: { ...headers, 'x-hub-signature-256': signature } });
      expect((await post(signed.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).status).toBe(401);
      const query = `query ($hookId: String!) {
      inboundDeliveries(hookId: $hookId) { data { event status reason } }
    }`;
      const listed = () => world.field(query, { token: owner.token, variables: { hookId: hook.id } });
      expect((await listed()).data).toEqual([]);
      // A repeated event is listed once.
      expect([(await post(signed)).status, (await post(signed)).status]).toEqual([status, status]);
      expect((await listed()).data).toEqual([
        { event: 'issues', status: 'ignored', reason: expect.stringContaining(reason) },
      ]);
    },
  );

  it('a delivery is processed once by concurrent workers, and once more when a person repeats it', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const { body } = await send('issues', labeled('agent'));
    const job = { deliveryId: body.deliveryId };
    await Promise.all(Array.from({ length: 8 }, () => processDelivery(job)));
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    const redelivery = `${deliveryPath(body.deliveryId)}/redelivery`;
    expect((await world.rest('POST', redelivery, { token: viewer.token })).status).toBe(403);
    const repeated = await world.rest('POST', redelivery, { token: owner.token });
    expect(repeated).toMatchObject({ status: 201, body: { redeliveryOf: body.deliveryId, status: 'received' } });
    await world.delivered();
    expect(await runs()).toHaveLength(2);
  });

  it('a delivery waits while the daily cost cap is reached, and starts its mission afterwards', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const cap = (dailyCostCapUsd: number) =>
      world.rest('PATCH', '/orchestrator', { token: owner.token, body: { dailyCostCapUsd } });
    await cap(0);
    const waiting = await deliver('issues', labeled('agent'));
    expect(waiting).toMatchObject({
      status: 'received',
      reason: expect.stringContaining('The daily cost cap'),
      processedAt: null,
    });
    expect(await runs()).toEqual([]);
    await retryDeliveries();
    await cap(1_000);
    await retryDeliveries();
    await world.delivered();
    expect(await delivery(waiting.id)).toMatchObject({ status: 'started', reason: null });
    expect(await runs()).toHaveLength(1);
  });

  it('a delivery is retried after the time that the source host requests, even if a person has approved the delivery', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const limited = (headers: Record<string, string>, message = 'Slow down') =>
      github.disturb('repos/get-collaborator-permission-level', { status: 403, headers, body: { message } });
    limited({ 'retry-after': '600' }, 'You have exceeded a secondary rate limit.');
    const waiting = await deliver('issues', labeled('agent'));
    expect(waiting).toMatchObject({ status: 'received', reason: 'GitHub limits the rate of requests.' });
    const query = '{ integrations { integrations { vendorKind pausedUntil } } }';
    const { integrations } = await world.field(query, { token: owner.token });
    expect(integrations).toContainEqual({ vendorKind: 'scm', pausedUntil: present() + minutes(10) });
    const asked = github.asked.length;
    const pass = async (ms: number) => {
      world.clock.turn(ms);
      await retryDeliveries();
      await world.delivered();
    };
    await pass(minutes(9));
    expect(github.asked).toHaveLength(asked);
    await pass(minutes(1));
    expect(await delivery(waiting.id)).toMatchObject({ status: 'started', reason: null });

    const theirs = await deliver('issues', labeled('agent', { by: person('eve') }));
    github.disturb('issues/get', { status: 429, headers: { 'retry-after': '60' } });
    await world.rest('POST', `${deliveryPath(theirs.id)}/approval`, { token: owner.token });
    await world.delivered();
    expect(await delivery(theirs.id)).toMatchObject({ status: 'received' });
    await pass(minutes(1));
    expect(await delivery(theirs.id)).toMatchObject({ status: 'started' });
    expect(await runs()).toMatchObject([{}, { billingActorUserId: owner.person.id }]);
  });

  it('a delivery that has not been processed for two days is marked as failed, and every delivery is deleted after its retention period', async () => {
    const { body } = await send('issues', labeled('agent'));
    const receivedAgo = (age: number) =>
      world
        .knex('inbound_deliveries')
        .where({ id: body.deliveryId })
        .update({ receivedAt: present() - age });
    await receivedAgo(days(2) + 1);
    await sweepDeliveries();
    expect(await delivery(body.deliveryId)).toMatchObject({ status: 'failed', reason: 'It could not be processed.' });
    await receivedAgo(deliveryRetentionMs + 1);
    await sweepDeliveries();
    expect((await world.rest('GET', deliveryPath(body.deliveryId), { token: owner.token })).status).toBe(404);
  });
});

describe('Rules for events', () => {
  it.each<[string, object]>([
    ['hookId', { kind: 'webhook' }],
    ['mention', { kind: 'comment' }],
    ['branch', { kind: 'issue', branch: 'main' }],
    ['assignee', { kind: 'issue', label: 'a', assignee: 'b' }],
    ['template', { kind: 'issue', template: '{{ [ }}' }],
  ])('an invalid rule for events is refused with an error that names the member: %s', async (member, rule) => {
    expect((await automation([rule])).description).toContain(`eventTriggers.0.${member}`);
  });

  it('a rule cannot name a hook of another organization, and is kept when its automation is changed over REST', async () => {
    const theirs = await world.rest('POST', '/inbound-hooks', {
      token: stranger.token,
      body: { name: 'X', vendor: 'webhook' },
    });
    expect(await automation([{ kind: 'webhook', hookId: theirs.body.hook.id }])).toMatchObject({ title: 'Not found' });
    expect(await automation([])).toMatchObject({ description: 'triggers: must be at least 1 entry.' });
    const { id } = await automation([{ kind: 'issue' }]);
    const { body } = await world.rest('PATCH', `/automations/${id}`, { token: owner.token, body: { name: 'New' } });
    expect(body).toMatchObject({ name: 'New', triggers: [] });
    expect(
      await world.field(`{ automation(automationId: "${id}") { eventTriggers { kind } } }`, { token: owner.token }),
    ).toEqual({
      ...{ eventTriggers: [{ kind: 'issue' }] },
    });
  });
});

describe('Previews of a rule for events', () => {
  const preview = (trigger: object, more: object = {}, token = owner.token) =>
    world.field(
      `query ($input: PreviewEventTriggerRequest!) {
        previewEventTrigger(input: $input) { data { reason key text delivery { id } } }
      }`,
      { token, variables: { input: { trigger, ...more } } },
    );

  it('a preview shows which recent events match a rule, with their key and text, and starts nothing', async () => {
    const ignored = await deliver('issues', labeled('bug'));
    await deliver('pull_request', { ...labeled('agent'), pull_request: labeled('agent').issue });
    world.clock.turn(1);
    const fits = await deliver('issues', labeled('agent', { title: 'Slow' }));
    const rule = {
      kind: 'issue',
      hookId: hook.id,
      label: 'agent',
      key: 'issue.title',
      template: 'Solve {{ issue.title }}.',
    };
    const rows = [
      {
        ...{ reason: null, key: 'key "Slow"', text: 'Event by ada.\n\nSolve Slow.', delivery: { id: fits.id } },
      },
      { reason: 'The label bug is not agent.', key: null, text: null, delivery: { id: ignored.id } },
    ];
    const { data } = await preview(rule, { projectId: project });
    expect(data).toEqual(rows);
    expect(await preview(rule, { deliveryId: ignored.id })).toEqual({ data: [rows[1]] });
    expect(await runs()).toEqual([]);
    await automation([rule]);
    const again = await world.rest('POST', `${deliveryPath(fits.id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(await delivery(again.body.id)).toMatchObject({ status: 'started' });
    expect((await runs())[0].issueText).toBe(rows[0]!.text);
  });

  it('a preview has one time limit for all expressions, and refuses records of another organization', async () => {
    const to = await newHook({ vendor: 'webhook', signature: 'github' });
    await deliver('', '{"data":{"a":1}}', { to });
    const slow = `{{ data${'.[@,@][]'.repeat(60)} }}`.repeat(8);
    const from = performance.now();
    const { data } = await preview({ kind: 'webhook', hookId: to.id, template: slow });
    expect(data).toMatchObject([{ reason: null, text: '' }]);
    // The template has eight slow expressions. If each of them had its own time limit of 500 ms, the preview would take four seconds.
    expect(performance.now() - from).toBeLessThan(3_000);
    const other = { kind: 'webhook', hookId: to.id };
    const refused = { title: 'Not found' };
    expect(await preview(other, {}, stranger.token)).toMatchObject(refused);
    for (const of of [{ projectId: project }, { deliveryId: data[0].delivery.id }]) {
      expect(await preview({ kind: 'issue' }, of, stranger.token)).toMatchObject(refused);
    }
    expect(await preview({ kind: 'issue' }, {}, stranger.token)).toEqual({ data: [] });
  });
});

describe('Disabled hooks', () => {
  it('a disabled hook keeps its events with the reason, and they can be processed once it is enabled', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const change = (enabled: boolean) =>
      world.rest('PATCH', `/inbound-hooks/${hook.id}`, { token: owner.token, body: { enabled } });
    expect(await change(false)).toMatchObject({ status: 200, body: { enabled: false, name: 'Events' } });
    const kept = await deliver('issues', labeled('agent'), { headers: { cookie: 'a=b', 'x-more': 'yes' } });
    expect(kept).toMatchObject({ status: 'ignored', reason: 'The hook is disabled.' });
    const { headers } = await world.field(
      `{ inboundDelivery(hookId: "${hook.id}", deliveryId: "${kept.id}") { headers { name value } } }`,
      { token: owner.token },
    );
    const names = headers.map(({ name }: { name: string }) => name);
    expect(headers).toContainEqual({ name: 'x-more', value: 'yes' });
    expect(names).not.toContain('cookie');
    expect(names).not.toContain('x-hub-signature-256');
    await change(true);
    await world.rest('POST', `${deliveryPath(kept.id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(await runs()).toHaveLength(1);
  });
});
