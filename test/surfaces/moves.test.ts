// An organization moves between two cells with a process and a database each while clients write at both addresses. The command is killed
// at each step and repeated: nothing is lost or doubled, and one cell serves at any time.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { openCells, type TestCell } from '../support/cell-world.ts';
import { admin } from '../support/command-line.ts';
import { programArguments, projectFolder } from '../support/processes.ts';

let cells: Awaited<ReturnType<typeof openCells>>;
let alice: Account;
let auditToken: string;
let runtimeToken: string;
let firstProject: string;

beforeAll(async () => {
  const settings = { SCHEDULER: 'on' };
  cells = await openCells(
    async (name, world) => {
      if (name === 'us') return;
      alice = await createOwner(world, 'Alice', 'Acme');
      await world.lift(alice.organization);
      firstProject = await createProject(world, alice, 'First');
      auditToken = await world.token(alice.person, alice.organization, { scopes: ['audit:read'] });
      runtimeToken = (await createServiceToken({ name: 'Runtime', orgId: alice.organization.id })).token;
    },
    { eu: settings, us: { ...settings, SECRET_KEY: Buffer.alloc(32, 8).toString('base64') } },
  );
}, 60_000);
afterAll(() => cells?.close());

const command = (cell: TestCell, ...args: string[]) => admin(args, cell.env);
const move = (from: TestCell, to: string) => command(from, 'org:move', '--org', 'acme', '--to', to);

/** Runs the command until it says this, and kills it then. Returns whether it has said it. */
async function killedAt(cell: TestCell, words: string): Promise<boolean> {
  const args = [...programArguments('admin'), 'org:move', '--org', 'acme', '--to', 'us'];
  const env = { PATH: process.env.PATH, ...cell.env };
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: projectFolder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let isSaid = false;
  for await (const line of createInterface({ input: child.stderr! })) {
    if (!line.startsWith(words)) continue;
    isSaid = true;
    child.kill('SIGKILL');
  }
  await ended;
  return isSaid;
}

/** A client that creates projects at the addresses in turn, and repeats each call with its key until it is acknowledged. */
function startClient(name: string) {
  const acknowledged: string[] = [];
  const refused = new Set<string>();
  let isRunning = true;
  const create = async (number: number): Promise<void> => {
    const body = { name: `${name} ${number}`, repoFullName: `acme/${name}-${number}` };
    const headers = { 'idempotency-key': `${name}-${number}` };
    for (let tries = 0; ; tries++) {
      const cell = (number + tries) % 2 === 0 ? cells.eu : cells.us;
      const answer = await cell.ask('POST', '/v1/projects', { token: alice.token, body, headers }).catch(() => null);
      if (answer?.status === 201) return void acknowledged.push(answer.body.id);
      refused.add(answer ? `${answer.status} ${answer.body.code}` : 'disconnected');
      await wait(50);
    }
  };
  const ended = (async () => {
    for (let number = 1; isRunning; number++) {
      await create(number);
      await wait(20);
    }
  })();
  return {
    acknowledged,
    refused,
    async stop() {
      isRunning = false;
      await ended;
    },
  };
}

/** Both addresses answer for the organization, with the same rows. */
async function expectReadable(): Promise<void> {
  const read = async (cell: TestCell) => {
    const me = await cell.ask('GET', '/v1/me', { token: alice.token });
    const project = await cell.ask('GET', `/v1/projects/${firstProject}`, { token: alice.token });
    return [me.status, me.body.orgId, project.status, project.body.name];
  };
  const expected = [200, alice.organization.id, 200, 'First'];
  expect([await read(cells.eu), await read(cells.us)]).toEqual([expected, expected]);
}

const projectsIn = (cell: TestCell) => cell.world.knex('projects').where({ orgId: alice.organization.id }).pluck('id');

it('a canceled move leaves the organization where it was', async () => {
  const { eu, us } = cells;
  expect(await killedAt(eu, 'nothing is written')).toBe(true);
  const body = { name: 'Canceled', repoFullName: 'acme/canceled' };
  expect((await eu.ask('POST', '/v1/projects', { token: alice.token, body })).status).toBe(503);
  await expectReadable();
  expect(await command(eu, 'org:move', '--org', 'acme', '--cancel')).toMatchObject({ code: 0 });
  expect((await us.ask('POST', '/v1/projects', { token: alice.token, body })).status).toBe(201);
  expect(await projectsIn(us)).toEqual([]);
});

it('clients write while the organization moves and the command is killed at each step; nothing is lost or doubled', async () => {
  const { eu, us } = cells;
  const before = await projectsIn(eu);
  const clients = ['one', 'two'].map(startClient);
  await expect.poll(() => clients.every(({ acknowledged }) => acknowledged.length > 2), { timeout: 30_000 }).toBe(true);
  for (const step of [
    'writes are refused',
    'nothing is written',
    'sending',
    'the other cell has verified',
    'removing',
  ]) {
    await expect.poll(() => killedAt(eu, step), { timeout: 60_000 }).toBe(true);
    await expectReadable();
  }
  expect(await move(eu, 'us')).toMatchObject({ code: 0, stderr: expect.stringContaining('removing') });
  const count = () => clients.map(({ acknowledged }) => acknowledged.length);
  const [one, two] = count();
  await expect.poll(() => count()[0]! > one! + 2 && count()[1]! > two! + 2, { timeout: 30_000 }).toBe(true);
  await Promise.all(clients.map((client) => client.stop()));

  const acknowledged = clients.flatMap((client) => client.acknowledged);
  expect((await projectsIn(us)).sort()).toEqual([...before, ...acknowledged].sort());
  for (const { refused } of clients) expect([...refused]).toContain('503 organization_moving');
  expect(await eu.world.knex('organizations').where({ id: alice.organization.id })).toEqual([]);
  expect(await eu.world.knex('cell_organizations').select('state', 'otherCell')).toEqual([
    { state: 'moved', otherCell: 'us' },
  ]);
  expect(await us.world.knex('cell_organizations')).toEqual([]);
  for (const { world } of [eu, us])
    expect(await world.knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%')).toEqual([]);
}, 240_000);

it('tokens, the numbers of events and the audit log go on in the other cell', async () => {
  const { eu, us } = cells;
  const created = (await projectsIn(us)).length;
  const numbers: number[] = [];
  let projects = 0;
  for (let after = 0; ; ) {
    const { data } = (await eu.ask('GET', `/v1/events?after=${after}&limit=100`, { token: auditToken })).body;
    if (data.length === 0) break;
    numbers.push(...data.map(({ number }: { number: number }) => number));
    projects += data.filter(({ type }: { type: string }) => type === 'project.created').length;
    after = numbers.at(-1)!;
  }
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  expect(projects).toBe(created);
  expect(await command(us, 'audit:verify', '--org', 'acme')).toMatchObject({ code: 0 });
  for (const cell of [eu, us])
    expect(
      (await cell.ask('POST', '/graphql', { token: runtimeToken, body: { query: '{ __typename }' } })).status,
    ).toBe(200);
  const page = await eu.ask('GET', '/console/o/acme/inbox?tab=all');
  expect([page.status, page.headers.get('location')]).toEqual([307, `${us.url}/console/o/acme/inbox?tab=all`]);
  expect(
    (await eu.ask('POST', '/v1/organizations', { token: alice.token, body: { name: 'X', slug: 'acme' } })).status,
  ).toBe(409);
  expect(await command(eu, 'org:forget', '--org', 'acme')).toMatchObject({ code: 0 });
});

it('the organization moves back, and the other cell forwards from then on', async () => {
  const { eu, us } = cells;
  const outcome = await move(us, 'eu');
  expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringContaining('removing')]);
  await expectReadable();
  const body = { name: 'Back', repoFullName: 'acme/back' };
  const created = await us.ask('POST', '/v1/projects', { token: alice.token, body });
  expect([created.status, (await projectsIn(eu)).includes(created.body.id), await projectsIn(us)]).toEqual([
    201,
    true,
    [],
  ]);
}, 60_000);
