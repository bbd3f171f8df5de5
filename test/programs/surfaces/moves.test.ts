// An organization moves between two cells, each with its own process and database, while clients write at the addresses of both cells. The command
// that moves the organization is killed at each step and repeated. Nothing is lost or doubled, and at any time one of the cells serves the
// organization.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { type Account, createOwner, createProject } from '../../support/callers.ts';
import { openCells, type TestCell } from '../../support/cell-world.ts';
import { admin } from '../../support/command-line.ts';
import { programArguments, projectFolder } from '../../support/processes.ts';
import { createRuntime, type Held, type Runtime } from '../../support/runtime-client.ts';

let cells: Awaited<ReturnType<typeof openCells>>;
let alice: Account;
let auditToken: string;
let runtime: Runtime;
let firstProject: string;

beforeAll(async () => {
  const settings = { SCHEDULER: 'on' };
  cells = await openCells(
    async (name, world) => {
      if (name === 'us') return;
      alice = await createOwner(world, 'Alice', 'Acme');
      await world.lift(alice.organization);
      await world
        .knex('organizations')
        .where({ id: alice.organization.id })
        .update({ formerSlugs: ['acme-before'] });
      firstProject = await createProject(world, alice, 'First');
      auditToken = await world.token(alice.person, alice.organization, { scopes: ['audit:read'] });
      const field = async (query: string, { token, variables }: { token?: string; variables?: object } = {}) => {
        const { body } = await cells.eu.ask('POST', '/graphql', {
          ...(token && { token }),
          body: { query, variables },
        });
        return body.errors ? body.errors[0].extensions.problem : Object.values(body.data)[0];
      };
      runtime = await createRuntime({ field } as Parameters<typeof createRuntime>[0], alice.organization);
    },
    { eu: settings, us: { ...settings, SECRET_KEY: Buffer.alloc(32, 8).toString('base64') } },
  );
  await storeArtifact(cells.eu);
});
afterAll(() => cells?.close());

const command = (cell: TestCell, ...args: string[]) => admin(args, cell.env);
const move = (from: TestCell, to: string) => command(from, 'org:move', '--org', 'acme', '--to', to);

/** Stores an artifact of the first project in a cell: the artifact’s record and its content. */
async function storeArtifact({ env, world }: TestCell): Promise<void> {
  const [contentKey, orgId] = [newId('content'), alice.organization.id];
  async function* content() {
    yield Buffer.from('proof');
  }
  await folderStorage(join(env.DATA_DIR!, 'artifacts')).write(contentKey, content(), 5);
  await world.knex('stored_contents').insert({ key: contentKey, orgId, createdAt: now(), sizeBytes: 5 });
  await world.knex('artifacts').insert({
    ...{
      id: newId('artifact'),
      orgId,
      projectId: firstProject,
      role: 'builder',
      kind: 'log',
      contentType: 'text/plain',
    },
    ...{ contentKey, sizeBytes: 5, createdAt: now(), expiresAt: now() + 86_400_000 },
  });
}

/** Runs the command until it prints this text, then kills it. Returns its whole output. */
async function killedAt(cell: TestCell, words: string): Promise<string> {
  const args = [...programArguments('admin'), 'org:move', '--org', 'acme', '--to', 'us'];
  const env = { PATH: process.env.PATH, ...cell.env };
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: projectFolder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    if (line.startsWith(words)) child.kill('SIGKILL');
  }
  await ended;
  return lines.join('\n');
}

/**
 * A client that creates projects at the addresses of both cells in turn. It repeats each call, with the Idempotency-Key of the call, until a cell
 * acknowledges the call.
 */
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

/** A mission that the runtime works on. */
async function startMission(): Promise<Held> {
  const { token } = alice;
  const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];
  const task = { projectId: firstProject, name: 'Check', prompt: 'Do it.', triggers };
  const { id } = (await cells.eu.ask('POST', '/v1/scheduled-tasks', { token, body: task })).body;
  await cells.eu.ask('POST', `/v1/scheduled-tasks/${id}/run`, { token });
  return vi.waitFor(async () => {
    const held = await runtime.claim();
    expect(held).toMatchObject({ runId: expect.any(String) });
    return held;
  });
}

/** Both addresses answer for the organization, with the same rows. */
async function expectReadable(): Promise<void> {
  const read = async (cell: TestCell) => {
    const me = await cell.ask('GET', '/v1/me', { token: alice.token });
    const project = await cell.ask('GET', `/v1/projects/${firstProject}`, { token: alice.token });
    return [me.status, me.body.orgId, project.status, project.body.name];
  };
  const expected = [200, alice.organization.id, 200, 'First'];
  // The organization may change its cell while both cells are read. A cell then answers that the read must be repeated.
  await expect.poll(async () => [await read(cells.eu), await read(cells.us)]).toEqual([expected, expected]);
}

const projectsIn = (cell: TestCell) => cell.world.knex('projects').where({ orgId: alice.organization.id }).pluck('id');

it('a canceled move leaves the organization where it was', async () => {
  const { eu, us } = cells;
  expect(await killedAt(eu, 'all writes have ended')).toContain('all writes have ended');
  const body = { name: 'Canceled', repoFullName: 'acme/canceled' };
  expect((await eu.ask('POST', '/v1/projects', { token: alice.token, body })).status).toBe(503);
  await expectReadable();
  expect(await command(eu, 'org:move', '--org', 'acme', '--cancel')).toMatchObject({ code: 0 });
  expect((await us.ask('POST', '/v1/projects', { token: alice.token, body })).status).toBe(201);
  expect(await projectsIn(us)).toEqual([]);
});

it('a move that is canceled after its file was copied can be repeated at once, even if the other cell missed the cancellation', async () => {
  const { eu, us } = cells;
  const { knex } = eu.world;
  // The last step of the sending cell fails.
  await knex.raw(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse before update on cell_organizations for each row when (new.state = 'moved') execute function refuse()`);
  const cancel = async () => JSON.parse((await command(eu, 'org:move', '--org', 'acme', '--cancel')).stdout);
  try {
    for (const [n, isHeard] of [true, false, true].entries()) {
      expect(await move(eu, 'us')).toMatchObject({ code: 1, stderr: expect.stringContaining('refused by the test') });
      expect(await projectsIn(us)).toContain(firstProject);
      expect(await us.ask('GET', '/v1/me', { token: alice.token })).toMatchObject({ status: 200 });
      if (!isHeard) await us.kill();
      expect(await cancel()).toEqual({ canceled: true, isDiscarded: isHeard });
      const body = { name: `Again ${n}`, repoFullName: `acme/again-${n}` };
      expect((await eu.ask('POST', '/v1/projects', { token: alice.token, body })).status).toBe(201);
      if (isHeard) expect(await projectsIn(us)).toEqual([]);
      else await us.start();
    }
  } finally {
    await knex.raw('drop trigger refuse on cell_organizations; drop function refuse');
  }
});

it('clients keep writing while an organization moves and the command is killed at each step; no write is lost or repeated', async () => {
  const { eu, us } = cells;
  const before = await projectsIn(eu);
  const held = await startMission();
  const job = { queue: 'finish issue', payload: { runId: held.runId } };
  await eu.world.knex.raw(
    `insert into background.job (name, data, start_after) values (?, ?, now() + interval '1 day')`,
    [job.queue, job.payload],
  );
  // These 18 jobs have a megabyte each. Together they are larger than a request between cells may be, so the move must send several requests.
  await eu.world.knex.raw(
    `insert into background.job (name, data, start_after)
     select ?, ?::jsonb || jsonb_build_object('text', repeat('x', 1000000)), now() + interval '1 day' from generate_series(1, 18)`,
    [job.queue, job.payload],
  );
  const clients = ['one', 'two'].map(startClient);
  await expect.poll(() => clients.every(({ acknowledged }) => acknowledged.length > 2)).toBe(true);
  for (const step of [
    'writes are refused',
    'all writes have ended',
    'sending',
    'the other cell has verified',
    'removing',
  ]) {
    await expect.poll(() => killedAt(eu, step)).toContain(step);
    // The receiving service is killed while it may be importing the organization. The forwarding service is killed while clients wait for
    // responses.
    const killed = { sending: us, removing: eu }[step];
    await killed?.kill();
    await killed?.start();
    await expectReadable();
  }
  expect(await move(eu, 'us')).toMatchObject({ code: 0, stderr: expect.stringContaining('removing') });
  const count = () => clients.map(({ acknowledged }) => acknowledged.length);
  const [one, two] = count();
  await expect.poll(() => count()[0]! > one! + 2 && count()[1]! > two! + 2).toBe(true);
  await Promise.all(clients.map((client) => client.stop()));

  const acknowledged = clients.flatMap((client) => client.acknowledged);
  expect((await projectsIn(us)).sort()).toEqual([...before, ...acknowledged].sort());
  for (const { refused } of clients) expect([...refused]).toContain('503 organization_moving');
  expect(await eu.world.knex('organizations').where({ id: alice.organization.id })).toEqual([]);
  expect(await eu.world.knex('cell_organizations').select('state', 'otherCell', 'jobs')).toEqual([
    { state: 'moved', otherCell: 'us', jobs: [] },
  ]);
  expect(await eu.world.knex('background.job').whereRaw(`data ->> 'runId' = ?`, held.runId)).toEqual([]);
  // The runtime still reports to the old address, with the lease that it held before the move.
  expect(await runtime.beat(held)).toEqual({ desired: 'run' });
  await runtime.finish(held);
  expect(await us.world.knex('runs').where({ id: held.runId }).select('status')).toEqual([{ status: 'completed' }]);
  expect(await us.world.knex('cell_organizations')).toEqual([]);
  for (const { world } of [eu, us])
    expect(await world.knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%')).toEqual([]);
}, 240_000);

it('tokens, event numbers and the audit log of a moved organization continue in the other cell', async () => {
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
  const page = await eu.ask('GET', '/console/o/acme/inbox?tab=all');
  expect([page.status, page.headers.get('location')]).toEqual([307, `${us.url}/console/o/acme/inbox?tab=all`]);
  for (const slug of ['acme', 'acme-before']) {
    const body = { name: 'X', slug };
    expect((await eu.ask('POST', '/v1/organizations', { token: alice.token, body })).status).toBe(409);
  }
});

it('an organization can move back, and the other cell forwards its requests from then on', async () => {
  const { eu, us } = cells;
  const [{ file }] = await eu.world.knex('cell_organizations').select('file');
  const filesOf = (cell: TestCell) =>
    readdirSync(cell.env.DATA_DIR!, { recursive: true }).map((name) => basename(String(name)));
  expect(filesOf(eu)).toContain(file.contentKey);
  const outcome = await move(us, 'eu');
  expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringContaining('removing')]);
  await expectReadable();
  const [{ contentKey }] = await eu.world.knex('artifacts').select('contentKey');
  expect(filesOf(eu)).toContain(contentKey);
  const body = { name: 'Back', repoFullName: 'acme/back' };
  const created = await us.ask('POST', '/v1/projects', { token: alice.token, body });
  expect([created.status, (await projectsIn(eu)).includes(created.body.id), await projectsIn(us)]).toEqual([
    201,
    true,
    [],
  ]);
  // The file into which the first move packed the organization is deleted, because the record of that move is gone.
  expect(filesOf(eu)).not.toContain(file.contentKey);
  expect(await command(us, 'org:forget', '--org', 'acme')).toMatchObject({ code: 0 });
});
