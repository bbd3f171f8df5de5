// An organization with webhook endpoints at a receiver that responds as a test demands, and keeps the requests it received.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deliverWebhooks, webhooksSettled } from '#domain/lifecycle/webhooks/deliver.ts';
import { writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import { days, now, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createOwner } from './callers.ts';
import { type Answer, openWorld, type Session } from './world.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
export type Body = any;
export const base = '/webhook-endpoints';
export const signatureOf = (secret: string, { headers, body }: Received): string =>
  new Webhook(secret).sign(
    headers['webhook-id'] as string,
    new Date(seconds(Number(headers['webhook-timestamp']))),
    body,
  );

export async function openWebhookWorld() {
  const received: Received[] = [];
  /** The response of each URL of the receiver; 200 by default. */
  const answers: Record<string, (res: ServerResponse) => void> = {};
  let invited = 0;
  openOutbound({ allowLoopback: true });
  const world = await openWorld();
  // The library that verifies signatures uses the clock of the machine.
  world.clock.turn(Date.now() - now());
  const { person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme');
  const receiver = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    received.push({ path: req.url!, headers: req.headers, body });
    const answer = answers[req.url!] ?? ((to) => to.end('thanks'));
    answer(res);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));

  const addressOf = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
  const sessions = new Map<string, { session: Session; openedAt: number }>();
  /**
   * Sends a request in a session that has not expired by the test's clock. The session is used again, because the start of a session is
   * itself an event, and tests count events.
   */
  async function ask(method: string, path: string, body?: object, orgId: string = acme.id): Promise<Answer> {
    const last = sessions.get(orgId);
    const isFresh = last !== undefined && now() - last.openedAt < days(1);
    const session = isFresh ? last.session : await world.session(alice, orgId);
    if (!isFresh) sessions.set(orgId, { session, openedAt: now() });
    return world.rest(method, path, { session, body });
  }
  async function create(path: string, more: object = {}, orgId?: string): Promise<{ id: string; secret: string }> {
    const body = { name: path, url: addressOf(path), types: ['invite.*'], ...more };
    const answer = await ask('POST', base, body, orgId);
    expect(answer.status).toBe(201);
    return { id: answer.body.endpoint.id, secret: answer.body.secret };
  }
  const get = async (path: string): Promise<Body> => (await ask('GET', base + path)).body;
  const listOf = async (id: string): Promise<Body[]> => (await get(`/${id}/deliveries`)).data;
  const invite = async (): Promise<string> => {
    const body = { email: `webhook-${++invited}@example.com`, role: 'viewer' };
    return (await ask('POST', '/invites', body)).body.id;
  };
  /** Writes and sends all deliveries that are due, as the jobs of the scheduler do every second. */
  async function deliver(): Promise<void> {
    await numberChanges(acme.id);
    await writeWebhookDeliveries();
    await deliverWebhooks();
    await webhooksSettled();
  }
  return {
    world,
    acme,
    alice,
    received,
    answers,
    addressOf,
    ask,
    create,
    get,
    listOf,
    invite,
    deliver,
    async close(): Promise<void> {
      openOutbound({ allowLoopback: false });
      receiver.closeAllConnections();
      await Promise.all([world.close(), new Promise((resolve) => receiver.close(resolve))]);
    },
    async reset(): Promise<void> {
      await world.knex('webhook_endpoints').delete();
      received.length = 0;
      for (const path of Object.keys(answers)) delete answers[path];
    },
  };
}
