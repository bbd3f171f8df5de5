// Each event starts its missions exactly once, even when the service is killed while it processes events. The environment variable DELIVERIES
// sets how many events the test sends, and KILLS sets how often it kills the service.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { minutes } from '#foundation/clock.ts';
import { atOnce } from '../../support/at-once.ts';
import { type Account, createOwner, createProject } from '../../support/callers.ts';
import { freePort, type ServiceProcess, startService } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

const eventCount = Number(process.env.DELIVERIES ?? 30);
const kills = Number(process.env.KILLS ?? 3);
/** Number of kills while events are sent; the other kills happen while events are processed. */
const early = Math.ceil(kills / 2);

let world: World;
let owner: Account;
let service: ServiceProcess;
let hooks: { id: string; secret: string }[];

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  const { token } = owner;
  await world.grant(owner.organization, 100_000);
  await world.lift(owner.organization);
  await world.rest('PATCH', '/orchestrator', { token, body: { dailyCostCapUsd: 100_000 } });
  const projectId = await createProject(world, owner, 'Shop', { repoFullName: 'acme/shop' });
  // Several hooks, because each accepts 1,200 events a minute.
  const body = { name: 'GitHub', vendor: 'github' };
  const created = await Promise.all([0, 1, 2, 3].map(() => world.rest('POST', '/inbound-hooks', { token, body })));
  hooks = created.map(({ body: { hook, secret } }) => ({ id: hook.id, secret }));
  const rule = { kind: 'issue', label: 'agent', from: 'anyone' };
  const mission = { projectId, prompt: 'true', triggers: [], agentId: 'agn_builtin_shell', eventTriggers: [rule] };
  for (const name of ['First', 'Second']) {
    await world.field('mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }', {
      token,
      variables: { input: { ...mission, name } },
    });
  }
});
afterAll(async () => {
  service?.process.kill('SIGKILL');
  await world.close();
});

/** Sends a delivery until it is answered with 2xx. */
async function send(n: number, hook: (typeof hooks)[number], id: string): Promise<string> {
  const body = JSON.stringify({
    ...{ action: 'labeled', label: { name: 'agent' }, repository: { full_name: 'acme/shop' } },
    issue: { number: n, html_url: `https://github.com/acme/shop/issues/${n}`, title: `Issue ${n}`, body: '' },
    sender: { login: 'ada', type: 'User' },
  });
  const headers = {
    ...{ 'content-type': 'application/json', 'x-github-event': 'issues', 'x-github-delivery': id },
    'x-hub-signature-256': `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`,
  };
  for (;;) {
    await service.ready.catch(() => {});
    const answer = await fetch(`${service.url}/hooks/${hook.id}`, { method: 'POST', body, headers })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as { deliveryId: string } }))
      .catch(() => null);
    if (answer && answer.status < 300) return answer.body.deliveryId;
    if (answer) expect(answer.status).toBe(503);
    await wait(20);
  }
}

async function restart(port: number): Promise<void> {
  const dead = once(service.process, 'exit');
  service.process.kill('SIGKILL');
  await dead;
  // Jobs of a lost process are due again after a timeout. The test does not wait for the timeout, and makes the jobs due at once.
  await world.knex.raw(`update background.job set state = 'retry', start_after = now() where state = 'active'`);
  start(port);
}
const start = (port: number) => {
  service = startService(world.connection, port, { SCHEDULER: 'on' });
};

it('each acknowledged event starts each of its missions once while the process is killed at random', {
  timeout: minutes(20),
}, async () => {
  const port = await freePort();
  start(port);
  const acknowledged = new Map<string, Set<string>>();
  let [answered, killed] = [0, 0];
  const numbers = Array.from({ length: eventCount }, (_, n) => n);
  await atOnce(8, numbers, async (n) => {
    const ways = [hooks[n % 4]!, ...(n % 2 ? [hooks[n % 4]!] : []), ...(n % 3 ? [] : [hooks[(n + 1) % 4]!])];
    for (const [way, hook] of ways.entries()) {
      const id = `${hook.id} ${n}`;
      acknowledged.set(id, (acknowledged.get(id) ?? new Set()).add(await send(n, hook, `event-${n}`)));
      if (way > 0) continue;
      answered++;
      if (answered < ((killed + 1) * eventCount) / (early + 1) || killed === early) continue;
      killed++;
      await restart(port);
    }
  });
  const received = async (): Promise<number> =>
    (await world.knex('inbound_deliveries').where({ status: 'received' })).length;
  const all = await received();
  for (; killed < kills; killed++) {
    const rest = all * (1 - (killed - early + 0.5) / (kills - early));
    while ((await received()) > rest) await wait(5);
    await restart(port);
  }
  await expect.poll(received, { timeout: minutes(5), interval: 100 }).toBe(0);

  // A repeated delivery has the id of the first one, even when the first response was lost.
  expect([...acknowledged.values()].filter((ids) => ids.size !== 1)).toEqual([]);
  const ids = [...acknowledged.values()].flatMap((of) => [...of]).sort();
  const rows = await world.knex('inbound_deliveries').orderBy('id');
  expect(rows.map(({ id }) => id)).toEqual(ids);
  const runs = await world.knex('runs');
  expect(runs).toHaveLength(2 * eventCount);
  const started = rows.flatMap(({ outcomes }) =>
    outcomes.flatMap(({ runId }: { runId: string | null }) => runId ?? []),
  );
  expect(started.sort()).toEqual(runs.map(({ id }) => id).sort());
  // The other deliveries are those of a second hook about the same event.
  expect(rows.filter(({ status }) => status === 'started')).toHaveLength(eventCount);
  const others = rows.filter(({ status }) => status !== 'started');
  for (const { outcomes } of others)
    expect(outcomes.every(({ reason }: { reason: string }) => /^The same event/.test(reason))).toBe(true);
});
