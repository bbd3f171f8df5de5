// An organization with a hook for events from GitHub, and the deliveries that a test sends to it.
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createCallers, createProject } from './callers.ts';
import { openGitHub } from './fake-github.ts';
import { openWorld } from './world.ts';

const githubToken = 'ghp_OfAcmeAndOfNobodyElse';

const create = `mutation ($input: CreateScheduledTaskRequest!) {
  createAutomation(input: $input) { id triggers { kind } eventTriggers { kind from label mention filter key } nextRunAt }
}`;

export const hex = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

interface Hook {
  id: string;
  address: string;
  secret: string;
}

export interface Sent {
  to?: Hook;
  id?: string;
  headers?: Record<string, string>;
  signed?: string;
}

export const repository = { full_name: 'Acme/shop' };
export const person = (login: string, type = 'User') => ({ login, type });

export async function openInboundWorld() {
  /** The hook for GitHub, created anew for each test. */
  const hook: Hook = { id: '', address: '', secret: '' };
  let events = 0;
  const nextEvent = (): number => ++events;
  openOutbound({ allowLoopback: true });
  const github = await openGitHub(githubToken);
  github.clear('acme/shop');
  github.repositories.get('acme/shop')!.permissions.set('ada', 'write').set('eve', 'read');
  const world = await openWorld({ vendors: { github: github.address } });
  const { owner, viewer, stranger } = await createCallers(world);
  await world.grant(owner.organization, 1_000);
  await world.lift(owner.organization);
  for (const vendorKind of ['tracker', 'scm'] as const) {
    const orgId = owner.organization.id;
    await connectIntegration({ orgId, vendor: 'github', vendorKind, displayName: 'GitHub', credentials: githubToken });
  }
  const project = await createProject(world, owner, 'Shop', { tracker: 'github' });

  async function newHook(more: object): Promise<Hook> {
    const { status, body } = await world.rest('POST', '/inbound-hooks', {
      token: owner.token,
      body: { name: 'Events', ...more },
    });
    expect(status).toBe(201);
    return { ...body.hook, secret: body.secret };
  }
  const automation = (eventTriggers: object[], more: object = {}, ask: object = { token: owner.token }) =>
    world.field(create, {
      ...ask,
      variables: {
        input: {
          projectId: project,
          name: 'Work',
          prompt: 'Do it.',
          triggers: [],
          agentId: 'agn_builtin_shell',
          eventTriggers,
          ...more,
        },
      },
    });
  async function send(name: string, payload: object | string, { to = hook, id, headers, signed }: Sent = {}) {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const answer = await fetch(to.address, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': name,
        'x-github-delivery': id ?? `delivery-${nextEvent()}`,
        'x-hub-signature-256': signed ?? hex(to.secret, body),
        ...headers,
      },
    });
    return { status: answer.status, body: (await answer.json()) as { deliveryId: string; description?: string } };
  }

  /** Sends an event that is processed at once, and returns its delivery. */
  async function deliver(name: string, payload: object | string, sent: Sent = {}) {
    const { status, body } = await send(name, payload, sent);
    expect(status).toBe(202);
    await world.delivered();
    return delivery(body.deliveryId, sent.to);
  }
  const deliveryPath = (id: string, { id: hookId } = hook) => `/inbound-hooks/${hookId}/deliveries/${id}`;
  const delivery = async (id: string, of = hook) =>
    (await world.rest('GET', deliveryPath(id, of), { token: owner.token })).body;
  const runs = () => world.knex('runs').orderBy('createdAt');
  function labeled(label: string, { by = person('ada'), title = 'Slow page', body = 'It takes 9 s.' } = {}) {
    const issue = github.open('acme/shop', { title, body });
    const { number, html_url } = issue;
    return {
      action: 'labeled',
      issue: { number, html_url, title, body, updated_at: '2026-11-23T09:00:00Z' },
      label: { name: label },
      repository,
      sender: by,
    };
  }
  return {
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
    async close(): Promise<void> {
      await world.close();
      await github.close();
      openOutbound({ allowLoopback: false });
    },
    async reset(): Promise<void> {
      await world.knex('recurring_missions').delete();
      await world.knex('runs').delete();
      await world.knex('inbound_hooks').delete();
      Object.assign(hook, await newHook({ vendor: 'github' }));
    },
    async check(): Promise<void> {
      expect(github.violations).toEqual([]);
    },
  };
}
