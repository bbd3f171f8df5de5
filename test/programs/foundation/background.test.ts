// Background jobs: written with their transaction or not at all, run at least once, and never by two workers at the same time.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import PgBoss from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { minutes, now, seconds, setClock } from '#foundation/clock.ts';
import {
  type Background,
  enqueue,
  type Handlers,
  jobRetentionMs,
  startBackground,
} from '#foundation/jobs/background.ts';
import { countJobs } from '#foundation/jobs/figures.ts';
import { queues } from '#foundation/jobs/queues.ts';
import { concurrency } from '#foundation/jobs/worker.ts';
import { openLog } from '#foundation/log.ts';
import { deliverMail, developmentMailbox, openMail, type QueuedMail, queueMail } from '#foundation/mail/mail.ts';
import { metricsText } from '#foundation/metrics.ts';
import { openDatabase, sql, transaction, watchStatements } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { programArguments } from '../../support/processes.ts';

let fresh: FreshDatabase;
let knex: ReturnType<typeof openDatabase>;
const started: Background[] = [];
const lines: string[] = [];
const log = openLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } });

beforeAll(async () => {
  fresh = await freshDatabase();
  knex = openDatabase({ connection: fresh.connection });
  bindSecretKey(Buffer.alloc(32, 7));
  openMail({ from: 'platform@example.com', log: () => {} });
});
beforeEach(() => sql('delete from background.job'));
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()));
  lines.splice(0);
  setClock();
});
afterAll(async () => {
  await knex.destroy();
  await fresh.drop();
});

/** Starts workers that poll once, and then on notification or at the given intervals. */
const start = (handlers: Handlers, often: { look?: number; tidy?: number } = {}): Background => {
  const background = startBackground(handlers, { log, look: minutes(10), tidy: minutes(10), ...often });
  started.push(background);
  return background;
};
const write = (payload: object) => transaction((trx) => enqueue(trx, 'mail', payload));
const jobs = () =>
  sql<{ id: string; data: object; state: string; retryCount: number }>(
    'select id, data, state, retry_count from background.job order by created_on, id',
  );
/** Skips the delay of a retry. The delay runs by the database's clock, so the job's time is changed instead. */
const rested = () => sql(`update background.job set start_after = now() where state = 'retry'`);
/** Warnings and errors in the log, with the members that the tests compare. */
const said = () =>
  lines.map((line) => {
    const { level, msg, queue, try: n, err } = JSON.parse(line);
    return { level, msg, queue, ...(n && { try: n }), ...(err && { err: err.message }) };
  });

it('a job starts as soon as its transaction commits', async () => {
  const done: object[] = [];
  start({ mail: async (payload) => void done.push(payload) });
  const trx = await knex.transaction();
  await enqueue(trx, 'mail', { n: 1 });
  expect(await jobs()).toEqual([]);
  await trx.commit();
  await vi.waitFor(() => expect(done).toEqual([{ n: 1 }]), { interval: 5 });
  await vi.waitFor(async () => expect(await jobs()).toEqual([]), { interval: 5 });
});

it('a job waits while its organization moves, which does not count as a failed attempt', async () => {
  const moving = Object.assign(new Error('the organization is moving'), { code: 'XM001' });
  start({ mail: () => Promise.reject(moving) });
  await write({ n: 1 });
  await vi.waitFor(async () => expect(await jobs()).toMatchObject([{ state: 'retry', retryCount: 0 }]), {
    interval: 5,
  });
  expect(said()).toEqual([]);
});

it('a job does not exist after a rollback', async () => {
  const done: object[] = [];
  const background = start({ mail: async (payload) => void done.push(payload) });
  const work = transaction(async (trx) => {
    await enqueue(trx, 'mail', { n: 1 });
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  await background.settled();
  expect([await jobs(), done]).toEqual([[], []]);
});

it('a job is found by polling when another process has written it', async () => {
  const done: object[] = [];
  start({ mail: async (payload) => void done.push(payload) }, { look: 20 });
  await sql(`insert into background.job (name, data) values ('mail', '{"n": 1}')`);
  await vi.waitFor(() => expect(done).toEqual([{ n: 1 }]), { interval: 5 });
});

it('due jobs are found with one statement, however many queues a process serves', async () => {
  const handlers = Object.fromEntries(Object.keys(queues).map((queue) => [queue, async () => {}]));
  const background = start(handlers, { look: 20 });
  await background.settled();
  const statements = new Map<string, number>();
  const unwatch = watchStatements((text) => statements.set(text, (statements.get(text) ?? 0) + 1));
  await vi.waitFor(() => expect(Math.max(0, ...statements.values())).toBeGreaterThan(5), { interval: 5 });
  unwatch();
  expect([...statements.keys()]).toEqual([expect.stringContaining('background.queue')]);
});

it('a job is refused for a queue that the database does not have, where it would be lost silently', async () => {
  await sql(`update background.queue set name = 'post' where name = 'mail'`);
  await expect(write({})).rejects.toThrow('there is no queue mail in the database');
  await sql(`update background.queue set name = 'mail' where name = 'post'`);
});

it('a job is retried after growing delays when it fails, until it succeeds; the log says so without its payload', async () => {
  const { delayMs } = queues.mail;
  let tries = 0;
  const mail = async () => {
    if (++tries < 3) throw new Error(`failure ${tries}`);
  };
  await write({ secret: '042917' });
  for (const times of [1, 2]) {
    await start({ mail }).settled();
    const [row] = await sql<{ state: string; rests: number }>(
      'select state, extract(epoch from start_after - now()) * 1000 as rests from background.job',
    );
    expect(row!.state).toBe('retry');
    expect(row!.rests).toBeGreaterThan(times * delayMs - seconds(5));
    expect(row!.rests).toBeLessThanOrEqual(2 * times * delayMs);
    await start({ mail }).settled();
    expect(tries).toBe(times);
    await rested();
  }
  await start({ mail }).settled();
  expect([tries, await jobs()]).toEqual([3, []]);
  const msg = 'job failed and will be retried';
  expect(said()).toEqual([
    { level: 'warn', msg, queue: 'mail', try: 1, err: 'failure 1' },
    { level: 'warn', msg, queue: 'mail', try: 2, err: 'failure 2' },
  ]);
  expect(lines.join('')).not.toContain('042917');
});

it('a job is abandoned, counted, and later deleted when every attempt fails', async () => {
  const mail = async () => {
    throw new Error('never');
  };
  await write({});
  const background = start({ mail }, { tidy: 20 });
  await background.settled();
  await sql('update background.job set retry_count = retry_limit - 1, start_after = now()');
  await start({ mail }).settled();
  expect(await jobs()).toMatchObject([{ state: 'failed', retryCount: queues.mail.retries }]);
  expect(said().at(-1)).toEqual({
    level: 'error',
    msg: 'job failed and is not retried',
    queue: 'mail',
    try: queues.mail.retries + 1,
    err: 'never',
  });
  expect(await countJobs()).toContainEqual({
    queue: 'mail',
    waiting: 0,
    due: 0,
    running: 0,
    failed: 1,
    failedLastDay: 1,
    oldestDueSeconds: null,
  });
  expect(await metricsText()).toContain('background_jobs{queue="mail",state="failed"} 1');
  const past = seconds(1) + jobRetentionMs.failed;
  await sql(`update background.job set completed_on = now() - $1 * interval '1 millisecond'`, [past]);
  await vi.waitFor(async () => expect(await jobs()).toEqual([]), { interval: 10 });
});

it('workers run each job only once, even when three workers compete for two hundred jobs', async () => {
  const done: number[] = [];
  await transaction(async (trx) => {
    for (let n = 0; n < 200; n++) await enqueue(trx, 'mail', { n });
  });
  const mail = async ({ n }: { n: number }) => void done.push(n);
  const workers = [start({ mail }), start({ mail }), start({ mail })];
  await Promise.all(workers.map((worker) => worker.settled()));
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  expect(await jobs()).toEqual([]);
});

it('workers start jobs in the order in which they were written', async () => {
  const begun: number[] = [];
  for (let n = 0; n < 20; n++) await write({ n });
  // The jobs are created a millisecond apart, because that is the resolution at which the creation time is read.
  await sql(`update background.job set created_on = now() + (data->>'n')::int * interval '1 millisecond'`);
  await start({ mail: async ({ n }: { n: number }) => void begun.push(n) }).settled();
  expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

it('workers run a few jobs at once, and run other jobs while one of them is slow', async () => {
  let [atOnce, most] = [0, 0];
  let release = () => {};
  const slow = new Promise<void>((resolve) => (release = resolve));
  const done: number[] = [];
  const background = start({
    async mail({ n }: { n: number }) {
      most = Math.max(most, ++atOnce);
      await (n === 0 ? slow : new Promise(setImmediate));
      atOnce--;
      done.push(n);
    },
  });
  await write({ n: 0 });
  await transaction(async (trx) => {
    for (let n = 1; n < 20; n++) await enqueue(trx, 'mail', { n });
  });
  await vi.waitFor(() => expect(done).toHaveLength(19), { interval: 5 });
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(concurrency);
  release();
  await background.settled();
  expect(done).toHaveLength(20);
});

it('workers finish running jobs when they are stopped, and start no more', async () => {
  let release = () => {};
  const slow = new Promise<void>((resolve) => (release = resolve));
  const begun: object[] = [];
  const background = start({
    async mail(payload) {
      begun.push(payload);
      await slow;
    },
  });
  await write({ n: 1 });
  await vi.waitFor(() => expect(begun).toEqual([{ n: 1 }]), { interval: 5 });
  let stopped = false;
  const stopping = background.stop().then(() => (stopped = true));
  await write({ n: 2 });
  expect(stopped).toBe(false);
  release();
  await stopping;
  expect((await jobs()).map(({ data, state }) => [data, state])).toEqual([[{ n: 2 }, 'created']]);
  expect(begun).toEqual([{ n: 1 }]);
});

describe('a process that is killed during a job', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  /** A process in the middle of a job. */
  async function midway(): Promise<ChildProcess> {
    const flags = [...programArguments('test/background-process'), JSON.stringify(fresh.connection)];
    child = spawn(process.execPath, flags, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [payload] = await once(child, 'message');
    expect(payload).toEqual({ n: 1 });
    return child;
  }

  it('a process that is killed during a job leaves the job to another process after the time limit', async () => {
    await write({ n: 1 });
    const dying = await midway();
    const done: object[] = [];
    const background = start({ mail: async (payload) => void done.push(payload) }, { look: 20, tidy: 20 });
    dying.kill('SIGKILL');
    await once(dying, 'exit');
    await background.settled();
    expect(await jobs()).toMatchObject([{ state: 'active', retryCount: 0 }]);
    // The job's time limit runs by the database's clock.
    await sql('update background.job set started_on = started_on - expire_in');
    await vi.waitFor(async () => expect((await jobs())[0]?.state).toBe('retry'), { interval: 5 });
    expect(done).toEqual([]);
    await rested();
    await vi.waitFor(() => expect(done).toEqual([{ n: 1 }]), { interval: 5 });
    await background.settled();
    expect(await jobs()).toEqual([]);
  });

  it('a job whose process is lost at its last attempt fails, and the failure is logged', async () => {
    await write({ n: 1 });
    const [job] = await jobs();
    await sql(
      `update background.job set state = 'active', retry_count = retry_limit, started_on = now() - interval '1 hour'`,
    );
    start({}, { tidy: 20 });
    await vi.waitFor(async () => expect(await jobs()).toMatchObject([{ state: 'failed' }]), { interval: 5 });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', queue: 'mail', job: job!.id, msg: 'job failed: its worker was lost at every attempt' },
    ]);
  });
});

describe('the database', () => {
  it('the database has the tables of the version of pg-boss that the service uses: another version needs a migration', async () => {
    const plans = PgBoss.getConstructionPlans('background');
    const [, wanted] = /INSERT INTO background\.version\(version\) VALUES \('(\d+)'\)/.exec(plans)!;
    expect(await sql('select version from background.version')).toEqual([{ version: Number(wanted) }]);
  });

  it('the database has every declared queue', async () => {
    const found = await sql<{ name: string }>('select name from background.queue');
    expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(queues).sort());
  });

  it('an unavailable database causes one log line; once it is available again, waiting jobs are executed', async () => {
    await sql('alter table background.job rename to hidden');
    const done: object[] = [];
    const background = start({ mail: async (payload) => void done.push(payload) }, { look: 5 });
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(0), { interval: 5 });
    await background.settled();
    expect(said()).toMatchObject([{ level: 'error', msg: 'cannot fetch background jobs' }]);
    await sql('alter table background.hidden rename to job');
    await write({ n: 1 });
    await vi.waitFor(() => expect(done).toEqual([{ n: 1 }]), { interval: 5 });
    expect(said()).toHaveLength(1);
  });

  it('background jobs run without prepared statements, which some poolers do not support', async () => {
    await knex.destroy();
    knex = openDatabase({ connection: fresh.connection, namedStatements: false, poolMax: 1 });
    const done: object[] = [];
    const background = start({ mail: async (payload) => void done.push(payload) });
    await write({ n: 1 });
    await background.settled();
    const { rows } = await knex.raw('select count(*) as n from pg_prepared_statements');
    expect([done, rows, lines]).toEqual([[{ n: 1 }], [{ n: 0 }], []]);
    await background.stop();
    await knex.destroy();
    knex = openDatabase({ connection: fresh.connection });
  });
});

describe('a waiting email', () => {
  const mail = { to: 'alice@example.com', subject: 'Your sign-in code', text: 'Your sign-in code is 042917\n' };
  const queue = (until: number) => transaction((trx) => queueMail(trx, mail, until));

  it('a waiting email is sealed: no row reveals its recipient or its text', async () => {
    await queue(now() + minutes(10));
    const rows = await sql<{ row: string }>('select j::text as row from background.job j');
    expect(rows).toHaveLength(1);
    for (const word of ['alice', 'code', '042917']) expect(rows[0]!.row).not.toContain(word);
  });

  it('a waiting email arrives as it was written', async () => {
    const until = now() + minutes(10);
    await queue(until);
    const [{ data } = { data: {} }] = await jobs();
    expect(data).toEqual({ sealed: expect.stringMatching(/^[\w-]+$/), until });
    await start({ mail: deliverMail }).settled();
    expect(developmentMailbox()![0]).toMatchObject(mail);
    expect(await jobs()).toEqual([]);
  });

  it('a waiting email is dropped when its payload is no longer valid', async () => {
    const mails = developmentMailbox()!.length;
    const until = now() + minutes(10);
    await queue(until);
    setClock(() => until);
    await start({ mail: deliverMail }).settled();
    expect([developmentMailbox()!.length, await jobs()]).toEqual([mails, []]);
  });

  it('a waiting email cannot be opened with another key', async () => {
    await queue(now() + minutes(10));
    const [{ data } = { data: {} }] = await jobs();
    bindSecretKey(Buffer.alloc(32, 8));
    await expect(deliverMail(data as QueuedMail)).rejects.toThrow();
    bindSecretKey(Buffer.alloc(32, 7));
  });
});
