// Records that an organization might see in the console on a morning: runs, a sandbox at work, artifacts and schedules. A real browser shows them.
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Account, createOwner, createProject } from './callers.ts';
import { createPageInspector } from './page-inspector.ts';
import {
  leaveArtifact,
  measure,
  openEnvironment,
  type Place,
  showFragments,
  spend,
  startSandbox,
  startSession,
  writeLog,
  writeMessages,
  writeSteps,
} from './runtime-records.ts';
import { openWorld, present, type Session } from './world.ts';

/** The content of an artifact of the kind `video`. These bytes cannot be played; the tests only check how the browser requests them. */
export const film = Buffer.from('a film of scrolling the list');

/** A small picture. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAFCAIAAAD38zoCAAAAIElEQVR4nGNQ9wzFihiwiqp7hjJglVD3DGXAKqHuGQoAVMcWgcmRU0sAAAAASUVORK5CYII=',
  'base64',
);

export type Owner = Account & { session: Session };

export type Morning = Awaited<ReturnType<typeof openMorning>>;

export async function openMorning(browser: Browser) {
  const world = await openWorld();
  const pages = createPageInspector(browser, world.url);
  const acme = await another('Acme');
  /** A new organization with its owner. */
  async function another(name: string): Promise<Owner> {
    const owner = await createOwner(world, `Owner-of-${name}`, name);
    return { ...owner, session: await world.session(owner.person, owner.organization.id) };
  }

  const project = async (name: string, { organization, token } = acme): Promise<Place> => ({
    orgId: organization.id,
    projectId: await createProject(world, { token }, name),
  });
  const shop = await project('Web shop');

  const schedule = (more: object) => [{ kind: 'schedule', schedule: { timezone: 'Pacific/Auckland', ...more } }];
  async function recurring(
    kind: 'scheduled-tasks' | 'automations',
    name: string,
    triggers: unknown,
    { projectId } = shop,
    { token } = acme,
  ): Promise<void> {
    await world.rest('POST', `/${kind}`, { token, body: { projectId, name, prompt: 'Look after it.', triggers } });
  }

  /** Inserts a run in the given state, as its runtime would leave it. */
  async function run(more: object): Promise<string> {
    const id = newId('run');
    const row = {
      id,
      ...shop,
      scheduledFor: present(),
      kind: 'scheduled',
      status: 'completed',
      missionCostUsd: 0.42,
      createdAt: present(),
      updatedAt: present(),
      ...more,
    };
    await world.knex('runs').insert(row);
    return id;
  }
  const held = () => ({ status: 'running', leaseId: newId('lease'), leaseUntil: present() + minutes(1) });

  /** Adds steps of several roles to the run, and messages that a person has sent to it. */
  async function steered(runId: string): Promise<void> {
    const at = present();
    const review = {
      verdict: 'request_changes',
      comments: [{ path: 'products.sql', line: 3, body: 'Name the index.' }],
    };
    await writeSteps(shop, runId, [
      { role: 'planner', round: 0, costUsd: 0.08, output: JSON.stringify({ steps: ['Measure', 'Add an index'] }) },
      {
        costUsd: 0.64,
        inputTokens: 12_400,
        cachedInputTokens: 180_000,
        outputTokens: 8_200,
        startedAt: at - minutes(4),
      },
      { role: 'reviewer', costUsd: 0.21, output: JSON.stringify(review), harness: 'codex', model: 'gpt-5.1' },
      { round: 2, status: 'running', costUsd: 0.34, startedAt: at - minutes(1), finishedAt: null },
    ]);
    await writeMessages(shop, runId, [
      { kind: 'approval' },
      { text: 'Use the migration helper of the repository.', deliveredAt: at, acknowledgedAt: at },
      { text: 'And tell me what it gains.' },
    ]);
  }

  const titles = ['Update dependencies', 'Find dead code', 'Check accessibility', 'Triage new issues'];
  for (let i = 0; i < 14; i++) {
    const at = present() - hours(9) + i * minutes(35);
    const status = i % 5 === 3 ? 'failed' : i % 7 === 5 ? 'skipped' : 'completed';
    await run({
      missionTitle: titles[i % 4],
      status,
      createdAt: at,
      missionCostUsd: status === 'skipped' ? 0 : 0.35 + (i % 4) * 0.61,
      ...(status === 'skipped'
        ? { reason: 'An earlier run is still open.' }
        : { startedAt: at + seconds(4), finishedAt: at + minutes(3 + (i % 5)) }),
      ...(status === 'failed' && { lastError: 'The tests of the checkout did not pass.' }),
    });
    if (status !== 'skipped') await spend(shop, 0.35 + (i % 4) * 0.61, { at });
  }
  await spend(shop, 18.2, { at: present() - hours(2) });
  const running = await run({
    ...held(),
    kind: 'manual',
    missionTitle: 'Speed up the product list',
    missionProgress: 62,
    missionActivity: 'Measuring the slow queries',
    startedAt: present() - minutes(6),
    createdAt: present() - minutes(7),
    missionCostUsd: 1.27,
    issueId: 'iss_1',
    issueUrl: `${world.url}/console/issues`,
  });
  await run({ missionTitle: 'Write release notes', status: 'dispatching', issueId: 'iss_2' });
  const sandbox = await startSandbox(shop, {
    runId: running,
    createdAt: present() - minutes(6),
    issueId: 'iss_1',
    lastCpuPct: 48.4,
    lastMemUsedMb: 1_840,
    lastMemTotalMb: 4_096,
    lastDiskUsedPct: 12.5,
  });
  const cpu = Array.from({ length: 72 }, (_, i) => 30 + 25 * Math.sin(i / 6) + (i % 5) * 4);
  await measure(sandbox, present() - minutes(6), seconds(5), cpu);
  await showFragments(sandbox, [
    {
      kind: 'plan',
      items: [
        { content: 'Measure', status: 'completed' },
        { content: 'Add an index', status: 'in_progress' },
        { content: 'Measure again', status: 'pending' },
      ],
    },
    { kind: 'thought', body: 'The list is read without an index on `category_id`.' },
    { kind: 'action', action: 'Bash', parameter: 'npm run bench -- products', result: 'p50 412 ms\np95 1 830 ms' },
    { kind: 'response', body: 'An index brings p95 from 1.8 s to 40 ms. I am writing the migration.' },
  ]);
  const sitting = await startSession(sandbox, { sessionId: 'first', startedAt: present() - minutes(5) });
  await writeLog(sitting, 'session', ['> npm run bench\n', 'p50 412 ms\n']);
  await writeLog(sitting, 'system', ['Linux 6.12\n']);
  await writeLog(sitting, 'prompt', ['Use the house style of this repository.', 'Never push to main.']);
  await startSession(sandbox, { sessionId: 'second', outcome: 'done', startedAt: present() - minutes(1) });
  const proof = { sandboxId: sandbox.id, issueId: 'iss_1' };
  await leaveArtifact(shop, picture, {
    ...proof,
    kind: 'screenshot',
    contentType: 'image/png',
    caption: 'The product list, filled',
    criterion: 'The list shows within a second',
    criterionPassed: true,
  });
  await leaveArtifact(shop, '{"p95": 40}', {
    ...proof,
    kind: 'report',
    contentType: 'application/json',
    caption: 'Figures before and after',
    criterion: 'No page becomes slower',
    criterionPassed: false,
  });
  await leaveArtifact(shop, film, {
    ...proof,
    kind: 'video',
    contentType: 'video/webm',
    caption: 'Scrolling the list',
  });
  await steered(running);
  await openEnvironment(shop, { workerName: 'preview-17', prNumber: 17, expiresAt: present() + hours(5) });
  await recurring(
    'scheduled-tasks',
    'Weekly audit',
    schedule({ interval: 'weekly', weekday: 'monday', time: '09:00' }),
  );
  await recurring('scheduled-tasks', 'Nightly clean-up', schedule({ interval: 'daily', time: '02:30' }));
  await recurring('automations', 'Monthly report', schedule({ interval: 'monthly', dayOfMonth: 1, time: '08:00' }));

  return {
    world,
    pages,
    acme,
    shop,
    /** A run in progress, and its sandbox. */
    running,
    sandbox,
    another,
    project,
    schedule,
    recurring,
    run,
    held,
    steered,
    /** Closes all windows, and fails if one of them had a problem. */
    async check(): Promise<void> {
      await pages.close();
      expect(pages.takeProblems()).toEqual([]);
    },
    async close(): Promise<void> {
      await world.close();
    },
  };
}
