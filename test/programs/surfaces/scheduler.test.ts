// The scheduler: a due occurrence is run once, by whichever process is first, even when processes die at any step.
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { areManyMissionsDue, dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { dispatching } from '#domain/work/runs/dispatch.ts';
import { isoTime, minutes, seconds } from '#foundation/clock.ts';
import { openLog } from '#foundation/log.ts';
import type { DatabaseConnection } from '#foundation/postgres/embedded/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { jobs } from '#surfaces/scheduler/jobs.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';
import { type Account, createOwner, createProject } from '../../support/callers.ts';
import { programArguments } from '../../support/processes.ts';
import { openWorld, present, silentLog, type World } from '../../support/world.ts';

let world: World;
let owner: Account;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  await world.grant(owner.organization, 10_000);
  await world.lift(owner.organization);
  projectId = await createProject(world, owner, 'Shop', { issueCode: 'WEB' });
});
afterAll(() => world.close());
beforeEach(() => world.knex.raw('truncate runs, issues, issue_counters, recurring_missions, sandboxes cascade'));

const due = () => dispatchDue();

/** A task that is due now. */
async function dueTask(): Promise<string> {
  const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
  const body = { projectId, name: 'Daily', prompt: 'Do it.', triggers: [{ kind: 'schedule', schedule }] };
  const { id, nextRunAt } = (await world.rest('POST', '/scheduled-tasks', { token: owner.token, body })).body;
  world.clock.turn(nextRunAt - present());
  return id;
}
const runsOf = (id: string) => world.knex('runs').where({ recurringId: id });
const issuesOf = (runId: string) => world.knex('issues').where({ runId });

it('an occurrence runs once, even if a process with a slow clock makes it due again', async () => {
  const id = await dueTask();
  const { nextRunAt } = await world.knex('recurring_missions').where({ id }).first();
  await due();
  const before = await runsOf(id);
  await world.knex('recurring_missions').where({ id }).update({ nextRunAt });
  await due();
  expect(await runsOf(id)).toEqual(before);
  expect((await world.knex('recurring_missions').where({ id }).first()).nextRunAt).toBeGreaterThan(present());
});

it('many missions are due while more than a batch has not started, including those that another process is starting', async () => {
  const id = await dueTask();
  await world.knex.raw(
    `insert into recurring_missions select (jsonb_populate_record(m, jsonb_build_object('id', 'sch_' || md5(n::text)))).*
     from recurring_missions m, generate_series(1, ?) n where m.id = ?`,
    [dispatching.batchSize, id],
  );
  const other = await world.knex.transaction();
  await other('recurring_missions').where({ id }).update({ nextRunAt: null, enabled: false });
  expect(await areManyMissionsDue()).toBe(true);
  await other.commit();
  expect(await areManyMissionsDue()).toBe(false);
});

describe('Dying scheduler processes', () => {
  it('a process that dies before it commits has done nothing: its row is skipped while locked, and run afterwards', async () => {
    const id = await dueTask();
    const dying = await world.knex.transaction();
    await dying('recurring_missions').where({ id }).forNoKeyUpdate();
    await due();
    expect(await runsOf(id)).toEqual([]);
    await dying.rollback();
    await due();
    expect(await runsOf(id)).toMatchObject([{ status: 'dispatching', issueId: expect.any(String) }]);
  });

  it('a process that dies before it creates the issue leaves the run to other processes, once its lease expires', async () => {
    const id = await dueTask();
    await due();
    const [run] = await runsOf(id);
    await issuesOf(run.id).delete();
    await leave(run.id);
    await due();
    expect((await runsOf(id))[0].issueId).toBe(null);
    world.clock.turn(dispatching.leaseMs);
    await due();
    const [taken, ...more] = await runsOf(id);
    expect(more).toEqual([]);
    expect(await issuesOf(run.id)).toMatchObject([{ id: taken.issueId }]);
    expect(taken).toMatchObject({ id: run.id, attempts: 2, claimedBy: null, leaseUntil: null, status: 'dispatching' });
  });

  it('an issue that a process created before it died is found by the next attempt, and is not created a second time', async () => {
    const id = await dueTask();
    await due();
    const [run] = await runsOf(id);
    await leave(run.id);
    world.clock.turn(dispatching.leaseMs);
    await due();
    expect((await runsOf(id))[0].issueId).toBe(run.issueId);
    expect(await issuesOf(run.id)).toHaveLength(1);
  });

  /** Makes it look as if a process had claimed the run, and had then died before it recorded the issue. */
  const leave = (id: string) =>
    world
      .knex('runs')
      .where({ id })
      .update({ issueId: null, issueUrl: null, claimedBy: 'dead:1', leaseUntil: present() + dispatching.leaseMs });
});

it('a run that is canceled while its issue is created keeps the reason for its cancellation, and links to the issue', async () => {
  const id = await dueTask();
  await world.knex.raw(`create function cancel() returns trigger language plpgsql as $$ begin
      update runs set status = 'canceled', reason = 'Canceled by a person.' where id = new.run_id; return new; end $$;
    create trigger cancel after insert on issues for each row execute function cancel()`);
  await due();
  await world.knex.raw('drop trigger cancel on issues; drop function cancel()');
  expect(await runsOf(id)).toMatchObject([
    { status: 'canceled', reason: 'Canceled by a person.', issueId: expect.any(String) },
  ]);
});

describe('Failing trackers', () => {
  const breakTracker = () =>
    world.knex.raw(`create function broken() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
      create trigger broken before insert on issues execute function broken()`);
  const mendTracker = () => world.knex.raw('drop trigger broken on issues; drop function broken()');

  it('a failing tracker is retried after growing delays, and the last error stays visible', async () => {
    const id = await dueTask();
    await breakTracker();
    await expect(due()).rejects.toThrow('1 issues could not be created');
    const { min } = dispatching.delayMs;
    const lastError = 'The service failed to answer. Report the request id.';
    expect(await runsOf(id)).toMatchObject([
      { status: 'dispatching', attempts: 1, lastError, leaseUntil: present() + min, claimedBy: null },
    ]);
    world.clock.turn(min - 1);
    await due();
    world.clock.turn(1);
    await expect(due()).rejects.toThrow();
    expect(await runsOf(id)).toMatchObject([{ attempts: 2, leaseUntil: present() + 2 * min }]);
    await mendTracker();
    world.clock.turn(2 * min);
    await due();
    expect(await runsOf(id)).toMatchObject([
      { status: 'dispatching', attempts: 3, lastError, issueId: expect.any(String), leaseUntil: null },
    ]);
  });

  it('a tracker that keeps failing fails the run, and the next occurrence starts nevertheless', async () => {
    const id = await dueTask();
    await breakTracker();
    for (let attempt = 1; attempt <= dispatching.attempts; attempt++) {
      await expect(due()).rejects.toThrow();
      const [run] = await runsOf(id);
      expect([run.attempts, run.status]).toEqual([attempt, attempt < dispatching.attempts ? 'dispatching' : 'failed']);
      world.clock.turn(dispatching.delayMs.max);
    }
    await mendTracker();
    await due();
    expect(await runsOf(id)).toMatchObject([{ status: 'failed', issueId: null, leaseUntil: null }]);
  });

  it('a failing tracker does not fail "run now": the run waits and is retried', async () => {
    const id = await dueTask();
    await breakTracker();
    const { status, body } = await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: owner.token });
    await mendTracker();
    expect([status, body]).toEqual([200, { ok: true, runId: body.runId, issueId: null, status: 'dispatching' }]);
    world.clock.turn(dispatching.delayMs.min);
    await due();
    expect(await issuesOf(body.runId)).toHaveLength(1);
  });
});

/** The settings that the test passes to support/scheduler-process.js. */
interface Orders {
  connection: DatabaseConnection;
  /** When the clock of the machine shows `at`, this clock shows `shows`. It runs `speed` times as fast. */
  clock: { at: number; shows: number; speed: number };
}

describe('Four scheduler processes on one database', () => {
  const occurrences = { scheduled_task: 1_000, automation: 500 };
  const speed = 60;
  const program = programArguments('test/scheduler-process');

  it('1,500 occurrences run once each while eight scheduler processes are killed during their work and replaced', {
    timeout: 300_000,
  }, async () => {
    const begin = Math.ceil(present() / minutes(1)) * minutes(1);
    await seed(begin);
    const orders: Orders = {
      connection: world.connection,
      clock: { at: Date.now(), shows: begin, speed },
    };
    const processes = new Set<ChildProcess>();
    const atWork = new Set<ChildProcess>();
    let complaints = '';
    const begun = () => {
      const args = [...program, JSON.stringify(orders)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      child.stderr!.on('data', (text) => {
        complaints += text;
      });
      child.on('message', () => atWork.add(child));
      child.on('exit', () => processes.delete(child));
      processes.add(child);
    };
    for (let n = 0; n < 4; n++) begun();
    try {
      for (let [left, lives] = [Infinity, 8]; left > 0; left = await remaining()) {
        await wait(Math.random() * 300);
        const [victim] = [...atWork].slice(Math.floor(Math.random() * atWork.size));
        if (!victim || lives-- <= 0) continue;
        atWork.delete(victim);
        victim.kill('SIGKILL');
        begun();
      }
    } finally {
      for (const child of processes) child.kill('SIGKILL');
    }
    const [told] = await summary();
    expect(told).toEqual({
      runs: 1_500,
      occurrences: 1_500,
      punctual: 1_500,
      skipped: 250,
      dispatched: 1_250,
      issues: 1_250,
      agreeing: 1_250,
      numbers: 1_250,
    });
    expect(complaints).toBe('');
  });

  /**
   * Tasks that are due once within two minutes of the fast clock, and again almost a day later. Every fourth task has skipIfPreviousOpen;
   * if it is a scheduled task and not an automation, it also has an open run.
   */
  async function seed(begin: number): Promise<void> {
    const schedule = { interval: 'daily', time: isoTime(begin - minutes(1)).slice(11, 16), timezone: 'UTC' };
    const triggers = JSON.stringify([{ kind: 'schedule', schedule }]);
    for (const [kind, count] of Object.entries(occurrences)) {
      await world.knex.raw(
        `insert into recurring_missions (id, kind, org_id, project_id, name, prompt, triggers, labels, skip_if_previous_open, enabled,
           next_run_at, created_by_user_id, created_at, updated_at)
         select left(:kind::text, 3) || '_' || n, :kind::text, :org, :project, 'Task ' || n, 'Do it.',
           :triggers, '{}', n % 4 = 0, true, :begin::bigint + (random() * :spread)::bigint, :owner, :begin, :begin from generate_series(1, :count::int) n`,
        {
          org: owner.organization.id,
          project: projectId,
          owner: owner.person.id,
          begin,
          spread: minutes(2),
          count,
          triggers,
          kind,
        },
      );
    }
    await world.knex.raw(
      `insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, lease_id, lease_until,
         created_at, updated_at)
       select 'open_' || n, :org, :project, 'sch_' || n, 0, 'manual', 'running', 'lse_' || n, 0, 0, 0
       from generate_series(4, 1000, 4) n`,
      { org: owner.organization.id, project: projectId },
    );
  }

  async function remaining(): Promise<number> {
    const { rows } = await world.knex.raw(
      `select (select count(*) from recurring_missions where next_run_at < :end)
        + (select count(*) from runs where status = 'dispatching' and issue_id is null) as left`,
      { end: present() + minutes(10) },
    );
    return rows[0].left;
  }

  const summary = async () =>
    (
      await world.knex.raw(`select count(*) as runs, count(distinct r.recurring_id) as occurrences,
        count(*) filter (where r.created_at >= r.scheduled_for) as punctual,
        count(*) filter (where r.status = 'skipped') as skipped,
        count(*) filter (where r.status = 'dispatching') as dispatched,
        (select count(*) from issues) as issues,
        count(*) filter (where i.id = r.issue_id) as agreeing,
        (select count(distinct number) from issues) as numbers
        from runs r left join issues i on i.run_id = ${reference('r.id')} where r.kind = 'scheduled'`)
    ).rows;
});

describe('Job loop', () => {
  const silent = silentLog();

  test('each job runs repeatedly, with the interval counted from its end, even after a failure', async () => {
    vi.useFakeTimers();
    const begun: string[] = [];
    const job = async (name: string) => {
      begun.push(name);
      if (name === 'failing') throw new Error('as expected');
      await new Promise((resolve) => setTimeout(resolve, seconds(3)));
    };
    const list = ['slow', 'failing'].map((name) => ({ name, intervalMs: seconds(2), run: () => job(name) }));
    const scheduler = startScheduler(list, silent);
    await vi.advanceTimersByTimeAsync(seconds(10));
    expect(begun.filter((name) => name === 'slow')).toHaveLength(2);
    expect(begun.filter((name) => name === 'failing')).toHaveLength(5);
    const stopped = scheduler.stop();
    await vi.advanceTimersByTimeAsync(seconds(60));
    await stopped;
    expect(begun).toHaveLength(7);
    vi.useRealTimers();
  });

  test('a failing job is logged at most once a minute, and once more when it succeeds again', async () => {
    vi.useFakeTimers();
    let works = false;
    const run = async () => {
      if (!works) throw new Error('as expected');
    };
    const told: string[] = [];
    const log = openLog({ level: 'info', destination: { write: (line) => told.push(JSON.parse(line).msg) } });
    const scheduler = startScheduler([{ name: 'failing', intervalMs: seconds(1), run }], log);
    await vi.advanceTimersByTimeAsync(seconds(10));
    expect(told).toEqual([expect.stringContaining('job failed')]);
    world.clock.turn(minutes(1));
    await vi.advanceTimersByTimeAsync(seconds(2));
    expect(told).toHaveLength(2);
    works = true;
    await vi.advanceTimersByTimeAsync(seconds(2));
    expect(told.slice(2)).toEqual(['job works again']);
    await scheduler.stop();
    vi.useRealTimers();
  });

  test('a job waits while there is more urgent work, but only a few seconds, and not after the scheduler has been stopped', async () => {
    vi.useFakeTimers();
    const begunAt: number[] = [];
    const started = Date.now();
    let urgentUntil = started + seconds(2.5);
    const run = async () => void begunAt.push(Date.now() - started);
    const yieldsWhile = async () => Date.now() < urgentUntil;
    const scheduler = startScheduler([{ name: 'patient', intervalMs: seconds(2), run, yieldsWhile }], silent);
    await vi.advanceTimersByTimeAsync(seconds(3));
    expect(begunAt).toEqual([seconds(2.6)]);
    urgentUntil = Number.POSITIVE_INFINITY;
    await vi.advanceTimersByTimeAsync(seconds(6));
    expect(begunAt).toEqual([seconds(2.6), seconds(7.6)]);
    await vi.advanceTimersByTimeAsync(seconds(1));
    const stopped = scheduler.stop();
    await vi.advanceTimersByTimeAsync(seconds(10));
    await stopped;
    expect(begunAt).toHaveLength(2);
    vi.useRealTimers();
  });

  test('each job has a unique name, and due runs are checked every few seconds', () => {
    const names = new Set(jobs.map(({ name }) => name));
    expect(names.size).toBe(jobs.length);
    expect(jobs.find(({ name }) => name === 'start due missions')!.intervalMs).toBeLessThanOrEqual(seconds(5));
  });
});
