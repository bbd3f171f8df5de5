// The demo's missions, and the runtime that `npm start` starts for every organization: it reveals no secret, is restarted after a crash,
// and shuts down. ../runner/local-runner.test.ts tests how a runner executes a run.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { demoCaller, findDemo, seedDemo } from '#demo/seed.ts';
import { Automation, ScheduledTask } from '#domain/work/recurring/model.ts';
import { createRecurring, runNow } from '#domain/work/recurring/operations.ts';
import { setClock } from '#foundation/clock.ts';
import { openLog } from '#foundation/log.ts';
import { type LocalRunner, startLocalRunner } from '#surfaces/operator/local-runner.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { compiled } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
let runner: LocalRunner | null = null;
let lines = '';
const log = openLog({ level: 'info', destination: { write: (line) => (lines += line) } });

beforeAll(async () => {
  world = await openWorld();
  // A runner uses the real clock.
  setClock(() => Date.now());
});
afterEach(() => runner?.stop());
afterAll(() => world.close());

const startFromSources = () => startLocalRunner({ PATH: process.env.PATH ?? '' }, log, 20);
/** Starts the compiled runner, which needs only a fraction of the time that a runner from the sources needs to start. */
const start = () => startLocalRunner({ PATH: process.env.PATH ?? '' }, log, 20, [compiled('runner/runner')]);
const owner = async (): Promise<Caller> => {
  const { owner, organization } = (await findDemo())!;
  return demoCaller(owner, organization);
};
/** Process ids of the runners in the log, in order. */
const pids = () => [...new Set([...lines.matchAll(/"runner":(\d+)/g)].map(([, pid]) => Number(pid)))];

async function until<T>(ask: () => Promise<T> | T, right: (answer: T) => boolean): Promise<T> {
  for (const end = Date.now() + 100_000; ; ) {
    const answer = await ask();
    if (right(answer)) return answer;
    if (Date.now() > end) throw new Error(`waited in vain: ${JSON.stringify(answer)}\n${lines}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Runs a script to its end, by default as the demo's owner. */
async function carriedOut(prompt: string, as?: Caller) {
  const caller = as ?? (await owner());
  const { id: projectId } = await world.knex('projects').where({ orgId: caller.orgId }).first();
  const schedule = { interval: 'daily', time: '00:00', timezone: 'UTC' } as const;
  const triggers = [{ kind: 'schedule' as const, schedule }];
  const script = {
    projectId,
    name: 'Script',
    prompt,
    templateKey: 'script',
    triggers,
    labels: [],
    skipIfPreviousOpen: false,
    enabled: false,
  };
  const { id } = await createRecurring(ScheduledTask, caller, script);
  const { runId } = await runNow(ScheduledTask, caller, id);
  return until(
    () => world.knex('runs').where({ id: runId }).first(),
    ({ status }) => status === 'completed' || status === 'failed',
  );
}

describe('Local runner', () => {
  it('seeding the demo creates a weekly task and a disabled automation once, even concurrently; tasks of an earlier release get an agent', async () => {
    await Promise.all([seedDemo({ projects: 1 }), seedDemo({ projects: 1 })]);
    const { orgId } = await owner();
    await world.knex('recurring_missions').where({ orgId, kind: 'scheduled_task' }).update({ agentId: null });
    await seedDemo({ projects: 1 });
    const weekly = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'Pacific/Auckland' };
    expect(await ScheduledTask.findAll({ orgId })).toMatchObject([
      {
        name: 'Monday health check',
        triggers: [{ kind: 'schedule', schedule: weekly }],
        skipIfPreviousOpen: true,
        enabled: true,
        agentId: 'agn_builtin_shell',
      },
    ]);
    expect(await Automation.findAll({ orgId })).toMatchObject([
      { name: 'Disk space', enabled: false, nextRunAt: null, agentId: 'agn_builtin_shell' },
    ]);
  });

  it('the local runner executes the demo’s own scripts', async () => {
    runner = await startFromSources();
    const { orgId } = await owner();
    const scripts = await Promise.all([ScheduledTask.get({ orgId }), Automation.get({ orgId })]);
    // The pauses let a person watch; the test skips them.
    const quick = scripts.map(({ prompt }) => prompt.replaceAll(/^ *sleep \d+$/gm, ''));
    const runs = await Promise.all(quick.map((script) => carriedOut(script)));
    expect(runs).toMatchObject([
      { status: 'completed', missionCostUsd: 0.02 },
      { status: 'completed', missionCostUsd: 0 },
    ]);
    const { id } = await world.knex('sandboxes').where({ runId: runs[0]!.id }).first();
    const plans = await world.knex('sandbox_fragments').where({ sandboxId: id, kind: 'plan' }).orderBy('seq', 'desc');
    expect(plans[0].items).toEqual(
      ['Look around', 'Measure', 'Write it down'].map((content) => ({ content, status: 'completed' })),
    );
    const { data } = (await world.graphql('{ artifacts { data { caption kind url } } }', await asking())).body.data
      .artifacts;
    const files = new Map<string, string>(data.map(({ caption, url }: Record<string, string>) => [caption, url]));
    expect([...files.keys()].sort()).toEqual(['disk.txt', 'health.png', 'report.md', 'result.json', 'uptime.log']);
    const content = async (name: string) => Buffer.from(await (await fetch(files.get(name)!)).arrayBuffer());
    expect((await content('health.png')).subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect(JSON.parse((await content('result.json')).toString())).toEqual({ ok: true, samples: 6 });
    expect((await content('report.md')).toString()).toMatch(/^# Health check\n/);
    expect(await world.knex('environments').where({ orgId })).toMatchObject([{ status: 'destroyed' }]);
  });

  it('the local runner serves every organization, even one created later', async () => {
    runner = await start();
    const grace = await createOwner(world, 'Grace', 'Another');
    const { person, organization } = grace;
    const caller = demoCaller(person, organization);
    await createProject(world, grace, 'Site');
    expect(await carriedOut('echo hello', caller)).toMatchObject({ status: 'completed', orgId: organization.id });
    expect(await carriedOut('echo hello')).toMatchObject({ status: 'completed' });
  });

  it('the local runner prints how its scripts are isolated', async () => {
    lines = '';
    runner = await start();
    expect(lines).toMatch(/Missions run in cells by|Scripts run as .* (isolated by|NOT isolated)/);
  });

  it('what the runner writes to standard error is logged as warnings, and its other output as information', async () => {
    const program = 'console.error("It does not work."); console.log("It works."); setInterval(() => {}, 1_000)';
    runner = await startLocalRunner({ PATH: process.env.PATH ?? '' }, log, 20, ['--eval', program]);
    const levelOf = (text: string) => new RegExp(`"level":"(\\w+)".*"msg":"${text}"`).exec(lines)?.[1];
    await until(() => levelOf('It does not work.'), Boolean);
    await until(() => levelOf('It works.'), Boolean);
    expect([levelOf('It does not work.'), levelOf('It works.')]).toEqual(['warn', 'info']);
  });

  it('the local runner is restarted after it dies, and its token is in no log line', async () => {
    lines = '';
    runner = await start();
    const [first] = await until(pids, ({ length }) => length === 1);
    process.kill(first!, 'SIGKILL');
    await until(pids, ({ length }) => length === 2);
    expect(await carriedOut('env; cat /proc/*/environ')).toBeTruthy();
    expect(lines).toContain('will be restarted');
    expect(lines).not.toContain('srv_');
    expect(await world.knex('sandbox_log_parts').whereLike('content', '%srv\\_%')).toEqual([]);
  });

  it('the local runner revokes the token of its predecessor, and ends when it is stopped', async () => {
    lines = '';
    runner = await start();
    const [pid] = await until(pids, ({ length }) => length === 1);
    const tokens = await world.knex('service_tokens').where({ orgId: null, name: 'Local runner' });
    expect(tokens.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    expect(tokens.length).toBeGreaterThan(1);
    await runner.stop();
    expect(() => process.kill(pid!, 0)).toThrow('ESRCH');
    expect(lines).not.toContain('will be restarted');
  });
});

async function asking() {
  const { owner: person, organization } = (await findDemo())!;
  return { token: await world.token(person, organization, { scopes: ['artifacts:read'] }) };
}
