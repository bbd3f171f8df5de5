// A labeled issue leads to a merged pull request. The agent is the real program Claude Code with a scripted model: it builds, and fixes
// what a check and two reviewers find. Each party sees what it should.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { continuePullRequests } from '../../src/domain/execution/pull-requests/continue.ts';
import { notifyAboutMissions } from '../../src/domain/lifecycle/mission-notices/tell.ts';
import { connectIntegration } from '../../src/domain/projects/vendors/connectors.ts';
import { credentialsOfApp } from '../../src/domain/projects/vendors/github/app.ts';
import { followPullRequests } from '../../src/domain/work/runs/branch.ts';
import { hours, minutes } from '../../src/foundation/clock.ts';
import { openOutbound } from '../../src/foundation/http/outbound.ts';
import { createProject } from '../support/callers.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { createRepository, serveGit } from '../support/git-server.ts';
import { approved, checkFailed, githubHeaders, labeled, lineCommented } from '../support/github-events.ts';
import { scripted } from '../support/harness-turns.ts';
import { createHook } from '../support/host-world.ts';
import { openMissionWorld } from '../support/mission-world.ts';
import { isolation, programs, whyMissing } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let github: GitHub;
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let hook: Awaited<ReturnType<typeof createHook>>;
let bare: string;
const git = (...args: string[]) => execFileSync('git', ['-C', bare, ...args], { encoding: 'utf8' }).trim();
const repository = () => github.repositories.get('acme/shop')!;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  github = await openGitHub('no personal token is accepted');
  missions = await openMissionWorld({ vendors: { github: github.address } });
  const { world, alice, folder } = missions;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = { appId: '1', installationId: '7' };
  github.clear('acme/shop');
  const writes = { issues: 'write', contents: 'write', pull_requests: 'write', checks: 'write' };
  github.settings.app = { ...app, publicKey, permissions: writes };
  repository().permissions.set('ada', 'write').set('bob', 'write');
  bare = createRepository(folder, 'acme/shop', { 'date.js': 'export const hour = (date) => date.getHours();\n' });
  serveGit(github.server, {
    folder,
    accepts: github.accepts,
    onPush: () => {
      for (const line of git('for-each-ref', '--format=%(refname:short) %(objectname)').split('\n'))
        repository().heads.set(...(line.split(' ') as [string, string]));
    },
  });

  const orgId = alice.organization.id;
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  const credentials = credentialsOfApp({ ...app, privateKey: pem })!.write();
  for (const vendorKind of ['scm', 'tracker'] as const)
    await connectIntegration({ orgId, vendor: 'github', vendorKind, displayName: 'GitHub', credentials });
  await world.knex('projects').delete();
  const projectId = await createProject(world, alice, 'Shop', { tracker: 'github' });
  await world.knex('projects').update({ autoMerge: true });
  hook = await createHook(world, alice.token, 'github');
  await missions.team('claude-code', 'builder');
  const rule = { kind: 'issue', label: 'agent' };
  const input = { projectId, name: 'Work', prompt: 'Solve the issue.', triggers: [], eventTriggers: [rule] };
  await missions.graphql('mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }', {
    input,
  });
});
afterAll(async () => {
  await missions.close();
  await github.close();
  openOutbound({ allowLoopback: false });
});

async function deliver([name, payload]: [string, object]): Promise<Json> {
  const body = JSON.stringify({ repository: { full_name: 'acme/shop' }, ...payload });
  const delivery = await hook.deliver(body, githubHeaders(name, body, hook.secret));
  expect(delivery).toMatchObject({ status: 'started', answerProblems: [] });
}

/** Waits until the agent of the newest run has finished and the run has its notification. Returns the run. */
async function ended(count: number): Promise<Json> {
  const { world, turn } = missions;
  if (count > 1) {
    turn(minutes(1));
    await continuePullRequests();
  }
  const runs = await world.knex('runs').orderBy('createdAt');
  expect(runs).toHaveLength(count);
  const { id } = runs.at(-1);
  expect(await missions.ended(id)).toMatchObject({ status: 'completed', lastError: null });
  await world.delivered();
  await notifyAboutMissions();
  return world.knex('runs').where({ id }).first();
}

/** All texts that the models have received since the last call. */
function wordsToModels(): string {
  const { seen } = missions.models;
  return seen
    .splice(0)
    .flatMap(({ body }) => (body as Json)?.messages ?? [])
    .map((message) => JSON.stringify(message.content).replaceAll('\\n', '\n'))
    .join('\n');
}

const edit = (old: string, fresh: string) =>
  scripted(
    { read: 'date.js' },
    { edit: { file: 'date.js', old, new: fresh } },
    { shell: `git commit -qam "${fresh}"` },
    { say: `It is ${fresh} now.` },
  );

it('a labeled issue becomes a merged pull request', async ({ skip }) => {
  skip(whyMissing('claude-code') !== null, whyMissing('claude-code') ?? '');
  const { world, folder } = missions;
  const { level } = isolation;
  const runner = missions.startRunner({
    ...{ CLAUDE_CODE_PROGRAM: programs['claude-code'], ISOLATION: level, GRACE_MS: '3000' },
    DATA_DIR: path.join(folder, 'data'),
  });
  const words = { title: 'Dates are wrong', body: `Use UTC. ${edit('getHours', 'getUTCHours')}` };
  const issue = github.open('acme/shop', words);
  await deliver(labeled(issue));
  expect(repository().reactions).toEqual(['issues/1']);
  expect(issue.comments).toMatchObject([{ body: expect.stringContaining('Work: started') }]);

  const built = await ended(1);
  expect(wordsToModels(), runner.output).toMatch(
    /Solve the issue\.[\s\S]*<issue-(\w+)>[\s\S]*Use UTC\.[\s\S]*<\/issue-\1>/,
  );
  const fileAt = (sha: string) => git('show', `${sha}:date.js`);
  expect(fileAt(built.headSha)).toBe('export const hour = (date) => date.getUTCHours();');
  const [pull] = repository().pulls as [Json];
  expect(pull).toMatchObject({ number: 2, title: expect.any(String), head: { ref: built.branch }, merged: false });

  const log = `1 test failed: no minutes\n${edit('getUTCHours()', 'getUTCHours() % 12')}`;
  await deliver(checkFailed(built.branch, built.headSha, { text: log }));
  const mended = await ended(2);
  expect(wordsToModels()).toContain('1 test failed: no minutes');
  expect(fileAt(mended.headSha)).toBe('export const hour = (date) => date.getUTCHours() % 12;');

  await deliver(lineCommented('This is local time.'));
  await deliver(lineCommented(`Name it utcHour. ${edit('const hour', 'const utcHour')}`, 'ada'));
  const answered = await ended(3);
  expect(wordsToModels()).toMatch(
    /bob wrote:[\s\S]*src\/date\.ts, line 7[\s\S]*This is local time\.[\s\S]*ada wrote:[\s\S]*Name it utcHour\./,
  );
  expect(fileAt(answered.headSha)).toBe('export const utcHour = (date) => date.getUTCHours() % 12;');
  expect(answered.branch).toBe(built.branch);

  await deliver(approved(answered.headSha));
  await followPullRequests();
  // The earlier runs learn of the merge when they are next checked.
  missions.turn(hours(1));
  await followPullRequests();
  await world.delivered();
  await notifyAboutMissions();

  // The source host has one comment on the issue, one comment on the pull request, and a check on each commit. The pull request is merged.
  expect(pull).toMatchObject({ merged: true, state: 'closed' });
  expect(issue).toMatchObject({ state: 'closed', state_reason: 'completed' });
  const page = `/console/o/acme/runs/${answered.id}`;
  for (const { comments } of [issue, pull]) {
    expect(comments).toHaveLength(1);
    expect(comments[0].body).toMatch(/^Work: completed, merged\n\n[\s\S]*Cost: 0\.\d\d USD/);
    expect(comments[0].body).toContain(page);
  }
  const shas = [built, mended, answered].map(({ headSha }) => headSha);
  expect(repository().checks.map(({ sha, status, conclusion }: Json) => [sha, status, conclusion])).toEqual(
    shas.map((sha) => [sha, 'completed', 'success']),
  );
  expect(repository().checks.at(-1)!.output.summary).toMatch(
    /Cost: 0\.\d\d USD[\s\S]*Change: 1 files[\s\S]*Review: approved/,
  );
  expect(git('log', '--format=%an: %s', `main..${answered.headSha}`).split('\n')).toEqual([
    'builder: const utcHour',
    'builder: getUTCHours() % 12',
    'builder: getUTCHours',
  ]);
  // The person gets one notification for each round.
  const told = await world.knex('mission_notices').orderBy('createdAt').select('kind', 'runId', 'userId');
  const { id: userId } = missions.alice.person;
  expect(told).toEqual([built, mended, answered].map(({ id: runId }) => ({ kind: 'review', runId, userId })));
  // No request violated GitHub's published API.
  expect(github.violations).toEqual([]);
});
