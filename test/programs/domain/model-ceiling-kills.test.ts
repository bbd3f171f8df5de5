// Payments to vendors for a mission never exceed its ceiling, even when processes are killed. Three missions share one budget of their organization.
// The test kills the service, and the model gateways of the missions. CALLS=<n> and KILLS=<n> set the number of calls and of kills, and SEED=<n>
// repeats the calls of an earlier run. Without KILLS the test is skipped, because its processes take many seconds.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hours, minutes } from '#foundation/clock.ts';
import { claimRun } from '../../../src/runner/generated/operations.ts';
import { connect } from '../../../src/runner/protocol/platform.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { type Fate, fates, messageOf, type PaidVendor, startPaidVendor } from '../../support/paid-vendor.ts';
import { compiled, freePort, type ServiceProcess, startService } from '../../support/processes.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import { openWorld, present, type World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const callCount = Number(process.env.CALLS ?? 100);
const kills = Number(process.env.KILLS ?? 0);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const missions = 3;

let world: World;
let vendor: PaidVendor;
let service: ServiceProcess;
let token: string;
const gateways: Gateway[] = [];
let killed = 0;
let killing: Promise<unknown> = Promise.resolve();

interface Gateway {
  process: ChildProcess;
  runId: string;
  port: number;
  key: string;
  parked: number;
}

beforeAll(async () => {
  if (kills === 0) return;
  world = await openWorld();
  // The processes use the real clock.
  world.clock.turn(Date.now() - present());
  vendor = await startPaidVendor((_, count) => {
    if (killed >= kills || count < ((killed + 1) * callCount) / (2 * kills + 2)) return;
    const victim = killed++;
    killing = killing.then(() => (victim % 2 ? replaceService() : replaceGateway(Math.floor(victim / 2) % missions)));
  });
  service = startService(world.connection, await freePort(), { SCHEDULER: 'on' });
  await service.ready;
});
afterAll(async () => {
  service?.process.kill('SIGKILL');
  for (const one of gateways) one.process.kill('SIGKILL');
  await vendor?.close();
  await world?.close();
});

async function end(child: ChildProcess): Promise<void> {
  const dead = once(child, 'exit');
  child.kill('SIGKILL');
  await dead;
}

async function replaceService(): Promise<void> {
  const port = Number(new URL(service.url).port);
  await end(service.process);
  service = startService(world.connection, port, { SCHEDULER: 'on' });
  await service.ready;
}

async function replaceGateway(index: number): Promise<void> {
  const { process: child, runId } = gateways[index]!;
  await end(child);
  await world
    .knex('runs')
    .where({ id: runId })
    .update({ leaseUntil: Date.now() - 1, claims: 1 });
  gateways[index] = await openGateway();
}

/** Claims a run that waits, and starts its gateway. */
async function openGateway(): Promise<Gateway> {
  const platform = connect(service.url, token, new AbortController().signal);
  const offer = { harnesses: ['claude-code'], modelVendors: ['anthropic' as const] };
  const claim = () => platform.mutate(claimRun, { runtime: 'Runtime', ...offer, claimId: randomUUID() });
  let claimed = await claim();
  while (!claimed) {
    await wait(50);
    claimed = await claim();
  }
  const { runId, leaseId, step } = claimed;
  await world
    .knex('runs')
    .where({ id: runId })
    .update({ leaseUntil: Date.now() + hours(1) });
  const orders = { platform: service.url, token, vendor: vendor.url, stepId: step.stepId, runId, leaseId };
  const args = [compiled('test/gateway-process'), JSON.stringify(orders)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const opened: Gateway = { process: child, runId, port: 0, key: '', parked: 0 };
  child.on('message', (said) => void Object.assign(opened, said));
  await once(child, 'message');
  return opened;
}

/** Sends a call of an agent, and repeats it when its gateway is lost. */
async function call(index: number, fate: Fate): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    await killing;
    const { port, key, runId } = gateways[index]!;
    const response = await fetch(`http://127.0.0.1:${port}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(messageOf({ ...fate, mission: runId })),
    }).catch(() => null);
    if (response) return void (await response.text().catch(() => {}));
  }
}

it.skipIf(kills === 0)(
  `ceilings of missions are not exceeded by ${callCount} model calls while up to ${kills} processes are killed`,
  {
    timeout: minutes(10),
  },
  async () => {
    const owner = await createOwner(world, 'Alice', 'Acme');
    const projectId = await createProject(world, owner, 'Shop', { repoFullName: 'acme/shop' });
    token = (await createRuntime(world, owner.organization)).token;
    // The budget is about half of what the calls would cost.
    const budgetUsd = Math.max(0.05, Math.round(callCount * 0.4) / 100 / missions);
    const shared = Math.round(budgetUsd * missions * 90) / 100;
    const body = { subject: 'organization', period: 'month', amountUsd: shared };
    expect((await world.rest('POST', '/budgets', { token: owner.token, body })).status).toBe(201);
    const start = `mutation ($projectId: String!, $budgetUsd: Float) {
    startMission(projectId: $projectId, prompt: "Fix it", budgetUsd: $budgetUsd) { id } }`;
    for (let n = 0; n < missions; n++) {
      await world.field(start, { token: owner.token, variables: { projectId, budgetUsd } });
      gateways.push(await openGateway());
    }

    let open = callCount;
    for (const [n, fate] of fc.sample(fates, { seed, numRuns: callCount }).entries())
      void call(n % missions, fate).finally(() => open--);
    const parked = () => gateways.reduce((sum, one) => sum + one.parked, 0);
    await expect.poll(() => open - parked() - vendor.held(), { timeout: minutes(9), interval: 50 }).toBe(0);
    await killing;
    await vendor.close();
    for (const { process: child } of gateways) {
      const settled = new Promise<void>((resolve) => {
        child.on('message', (said: Json) => said.settled && resolve());
      });
      child.send('settle');
      await settled;
    }

    const sums = { paid: 0, excess: 0 };
    for (const [runId, paid] of vendor.paid) {
      const excess = vendor.excess.get(runId) ?? 0;
      sums.paid += paid;
      sums.excess += excess;
      const { reserved }: Json = await world.knex('model_calls').where({ runId }).sum({ reserved: 'amount' }).first();
      const { missionCostUsd } = await world.knex('runs').where({ id: runId }).first();
      const known = missionCostUsd * 1_000_000 + Number(reserved);
      expect(paid, `SEED=${seed}`).toBeLessThanOrEqual(known + excess + 1);
      expect(paid, `SEED=${seed}`).toBeLessThanOrEqual(budgetUsd * 1_000_000 + excess);
    }
    expect(sums.paid, `SEED=${seed}`).toBeLessThanOrEqual(shared * 1_000_000 + sums.excess);
    expect(killed).toBeGreaterThan(0);
    console.log({ seed, shared, ...sums, killed, calls: vendor.calls(), parked: parked() });
  },
);
