// `aep` in a terminal: sign-in, missions that are followed and steered, errors, and completion.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { stageEffect } from '#domain/projects/effects/staging.ts';
import { transaction } from '#foundation/postgres/database.ts';
import type { Ended } from '../../support/aep.ts';
import { bundleAep, openAepWorld } from '../../support/aep-world.ts';
import { createProject } from '../../support/callers.ts';
import { locationOf } from '../../support/oauth-world.ts';
import { freePort, projectFolder } from '../../support/processes.ts';
import { leaveArtifact } from '../../support/runtime-records.ts';
import { present } from '../../support/world.ts';

const { world, ada, runtime, token, folder, settings, aep, json, claim, close, reset } = await openAepWorld();
afterAll(close);
beforeEach(reset);
await createProject(world, { token }, 'Web shop');
const program = await bundleAep(folder);

function start(args: string[], env: NodeJS.ProcessEnv = {}): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, XDG_CONFIG_HOME: settings(), AEP_URL: world.url, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number, stdout, stderr }),
  );
  return { child, ended };
}

/** The output so far. */
function collect(stream: NodeJS.ReadableStream): () => string {
  let said = '';
  stream.on('data', (chunk) => {
    said += chunk;
  });
  return () => said;
}
const signedIn = (...args: string[]): Promise<Ended> => start(args).ended;
const storeFile = () => path.join(settings(), 'aep/credentials.json');
const store = () => JSON.parse(readFileSync(storeFile(), 'utf8'));

describe('aep login', () => {
  /** Signs in: `choice` is the person's answer on the page; `before` runs before the browser opens the callback. */
  async function signIn(choice: object = {}, before = async (_: URL) => {}): Promise<Ended & { page: string }> {
    const { child, ended } = start(['login', '--no-browser']);
    const said = collect(child.stderr!);
    const address = await vi.waitFor(() => {
      const [found] = said().match(/http:\S+\/oauth\/authorize\S+/) ?? expect.unreachable();
      return new URL(found);
    });
    await before(new URL(address.searchParams.get('redirect_uri')!));
    const answer = await world.authorize(ada, Object.fromEntries(address.searchParams), choice);
    const page = await (await fetch(locationOf(answer))).text();
    return { ...(await ended), page };
  }

  it('`aep login` stores the sign-in in a file that only its owner can read, and refreshes its API token', async () => {
    const { code, stdout, page } = await signIn();
    expect(page).toContain('<h1>You are signed in</h1>');
    expect(code).toBe(0);
    expect(stdout).toBe(
      `You are signed in to ${world.url}/console/o/ada-and-company. The sign-in is kept in ${storeFile()}.\n`,
    );
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600);

    const me = await signedIn('whoami', '--json');
    expect(JSON.parse(me.stdout)).toMatchObject({ userId: ada.person.id, orgId: ada.organization.id });
    expect(JSON.parse(me.stdout).scopes).toContain('missions:run');
    const { stdout: names } = await signedIn('whoami');
    expect(names).toContain(`<${ada.person.email}>`);
    expect(names).toContain(`${ada.organization.name}, ${ada.organization.id}`);

    // Two concurrent commands refresh the token once: a second refresh with the same token would end the sign-in.
    const before = store();
    before.signIns[world.url].expiresAt = 0;
    writeFileSync(storeFile(), JSON.stringify(before));
    const all = await Promise.all([signedIn('whoami'), signedIn('whoami')]);
    expect(all.map(({ code }) => code)).toEqual([0, 0]);
    const after = store().signIns[world.url];
    expect(after.refreshToken).not.toBe(before.signIns[world.url].refreshToken);
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600);

    // A token that the service rejects is refreshed too.
    writeFileSync(
      storeFile(),
      JSON.stringify({ ...store(), signIns: { [world.url]: { ...after, accessToken: 'oat_x' } } }),
    );
    expect((await signedIn('whoami')).code).toBe(0);

    const { accessToken } = store().signIns[world.url];
    expect((await signedIn('logout')).stdout).toBe(`You are signed out of ${world.url}.\n`);
    expect(store().signIns).toEqual({});
    expect((await world.rest('GET', '/me', { token: accessToken })).status).toBe(401);
    expect(await signedIn('whoami')).toMatchObject({
      code: 1,
      stderr: `error: You are not signed in to ${world.url}. Run "aep login", or set AEP_TOKEN to a personal access token.\n`,
    });
  });

  it('`aep login` reports that the person denied the sign-in', async () => {
    const { code, stderr, page } = await signIn({ decision: 'deny' });
    expect(page).toContain('The sign-in failed');
    expect(code).toBe(1);
    expect(stderr).toContain('error: The sign-in failed:');
  });

  it('`aep login` keeps waiting after requests that are not the expected callback', async () => {
    const statuses: number[] = [];
    const { code, page } = await signIn({}, async (callback) => {
      for (const target of [
        '//',
        '/',
        '/callback',
        '/callback?code=x',
        '/callback?code=x&state=wrong&error=access_denied',
      ]) {
        const request = get({ port: callback.port, host: callback.hostname, path: target });
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.resume();
        statuses.push(response.statusCode!);
      }
    });
    expect(statuses).toEqual([404, 404, 404, 400, 400]);
    expect(page).toContain('<h1>You are signed in</h1>');
    expect(code).toBe(0);
  });

  it('`aep login` requires https except on this machine', async () => {
    const { code, stderr } = await start(['login', '--url', 'http://platform.example']).ended;
    expect([code, stderr]).toEqual([1, 'error: http://platform.example: sign-in needs an https address.\n']);
  });
});

describe('commands for missions', () => {
  it('`aep run` follows a mission to its end, and exits with a code that reports its outcome', async () => {
    const { child, ended } = start(['run', 'web-shop', 'echo it works', '--script'], { AEP_TOKEN: token });
    const said = collect(child.stdout!);
    const { runId, leaseId } = await claim();
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content: 'it ' }, '{ nextSeq }');
    await runtime.report('appendLog', { ...session, part: 'session', seq: 1, content: 'wörks\n' }, '{ nextSeq }');
    const fragments = [{ kind: 'thought', t: present(), body: 'Reading \u001b[2Jthe code.' }];
    await runtime.report('appendFragments', { leaseId, sandboxId, seq: 0, fragments }, '{ nextSeq }');
    await vi.waitFor(() => expect(said()).toContain('  Reading [2Jthe code.\n'));
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2)).toEqual([runId, `  ${world.url}/console/o/ada-and-company/runs/${runId}`]);
    expect(stdout).toContain('completed (0.00 US dollars)');
    expect(await aep('logs', runId)).toMatchObject({
      code: 0,
      stdout: 'it wörks\n',
      stderr: '── builder · first\n',
    });
    expect(await aep('logs', runId, '--follow')).toMatchObject({ code: 0, stdout: 'it wörks\n' });
    const { id: other } = await json('run', 'web-shop', 'echo later', '--script', '--detach');
    await aep('cancel', other);
    expect(await aep('logs', runId, other, runId, '--follow')).toMatchObject({
      code: 0,
      stdout: `${runId} it wörks\n`,
      stderr: expect.stringContaining(`${other} has no logs yet.`),
    });
    const many = Array.from({ length: 21 }, (_, n) => `run_${n}`);
    expect((await aep('logs', ...many)).stderr).toContain('At most 20 runs can be given.');
  });

  it('`aep` prints the output of agents without control sequences except colors', async () => {
    const { id: runId } = await json('run', 'web-shop', 'echo colors', '--script', '--detach');
    const { leaseId } = await claim();
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    const hostile =
      '\u001b]52;c;cm0gLXJmIH4=\u0007\u001b]0;title\u001b\\\u001b[2J\u001b[1;1H\u009b2J\u001bPq\u001b\\\u001bc\rover\b\u001b[31mred\u001b[0m\tend\n';
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content: hostile }, '{ nextSeq }');
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    const { projectId } = await json('show', runId);
    const artifact = await leaveArtifact({ orgId: ada.organization.id, projectId }, hostile);

    const onTerminal = { AEP_TOKEN: token, NODE_OPTIONS: '--import data:text/javascript,process.stdout.isTTY=true' };
    for (const args of [
      ['logs', runId],
      ['artifacts', 'get', artifact.id],
    ]) {
      expect((await aep(...args)).stdout).toBe(hostile);
      const { stdout } = await start(args, onTerminal).ended;
      expect(stdout.replace('\u001b[0m\n', '\n').replace('\n\u001b[0m', '\n')).toBe(
        '\nover\u001b[31mred\u001b[0m\tend\n',
      );
      expect((await start(args, { ...onTerminal, NO_COLOR: '1' }).ended).stdout).not.toContain('\u001b');
    }
    expect(JSON.parse((await aep('logs', runId, '--json')).stdout).content).toBe(hostile);
    expect((await aep('logs', runId, '--json')).stdout).not.toContain('\u009b');
  });

  it('`aep run` exits with distinct codes when a mission fails or is canceled', async () => {
    const failing = start(['run', 'web-shop', '-', '--script'], { AEP_TOKEN: token });
    failing.child.stdin!.end('exit 1');
    const held = await claim();
    const { leaseId } = held;
    const sandboxId = await runtime.register(held, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `line ${from + i}`).join('\n');
    const content = `${numbered(0, 22)}\nsh: fix: not found\n`;
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content }, '{ nextSeq }');
    await runtime.finish(held, { status: 'failed', error: 'It broke.' });
    const { code, stdout } = await failing.ended;
    expect([code, stdout]).toEqual([3, expect.stringContaining('failed: It broke.')]);
    expect(stdout.split(`has all\n`)[1]).toBe(`${numbered(3, 22)}\nsh: fix: not found\n`);

    const canceled = start(['run', 'web-shop', 'sleep 1', '--json'], { AEP_TOKEN: token });
    const [first] = (await once(canceled.child.stdout!, 'data')) as [Buffer];
    await aep('cancel', JSON.parse(String(first).split('\n', 1)[0]!).id);
    expect((await canceled.ended).code).toBe(4);
  });

  it('`aep` steers a mission, continues it and starts it again', async () => {
    // The runtime claims once, so that it is connected before the missions start.
    expect(await runtime.claim()).toBe(null);
    const agents = await json('agents', '--role', 'builder');
    const { id: agent } = agents.find(({ harness }: { harness: string }) => harness === 'claude-code');
    const { id: runId } = await json('run', 'web-shop', 'Fix the clock.', '--agent', agent, '--detach');
    const { leaseId } = await claim('claude-code');
    expect(await json('message', runId, 'Use the UTC helper.')).toMatchObject({ runId, text: 'Use the UTC helper.' });
    expect((await aep('interrupt', runId)).stdout).toBe(`The agent is interrupted. ${runId} is running.\n`);
    expect((await aep('resume', runId)).stdout).toBe(`The agent continues. ${runId} is running.\n`);
    expect((await aep('approve', runId)).stderr).toMatch(/^error: .+plan/);
    expect((await aep('answer', runId, 'Yes.')).stderr).toMatch(/^error: .+question/);
    expect((await aep('diff', runId)).stderr).toBe(`error: ${runId} has no changes.\n`);
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'claude-code' });
    const change = '--- a/shop.ts\n+++ b/shop.ts\n@@ -1 +1 @@\n-local\n+utc\n';
    const { projectId, issueId } = await json('show', runId);
    const place = { orgId: ada.organization.id, projectId };
    const { id: changeArtifactId } = await leaveArtifact(place, change, { caption: 'change.diff', sandboxId, issueId });
    await world.knex('runs').where({ id: runId }).update({ changeArtifactId });
    expect((await aep('diff', runId)).stdout).toBe(change);
    expect((await aep('review', runId, 'approve')).stderr).toBe(`error: ${runId} has no changes.\n`);
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ branch: 'mission', headSha: 'a'.repeat(40) });
    const reviewed = await aep('review', runId, 'request-changes', '-m', 'Nearly.', '--on', 'shop.ts:1=Which zone?');
    expect(reviewed.stdout).toBe(`The review of aaaaaaa is stored. ${runId} handles it.\n`);
    expect((await aep('review', runId, 'comment', '--on', 'shop.ts')).stderr).toMatch(
      /^error: .+src\/date\.ts:7=Use UTC/,
    );
    expect((await aep('merge', runId)).stderr).toMatch(/^error: Conflict: The run has no pull request\.\n/);
    expect((await aep('effects', runId)).stdout).toBe('The run has no outside effects that need or needed approval.\n');
    const [eff1, eff2] = await transaction(async (trx) => {
      const of = { id: runId, orgId: ada.organization.id, projectId };
      const close = (key: string) =>
        stageEffect(trx, of, { kind: 'tracker', key, payload: { ofRunId: runId, issueId: key } });
      const first = await close('ENG-1');
      world.clock.turn(1);
      return [first, await close('ENG-2')];
    });
    expect((await aep('effects', runId)).stdout).toContain(`${eff1}  staged  Close ENG-1\n`);
    expect((await aep('effects', runId, 'reject', '--only', eff1!)).stdout).toBe('Rejected: Close ENG-1\n');
    expect((await aep('effects', runId, 'approve')).stdout).toBe('Approved: Close ENG-2\n');
    expect(await json('effects', runId)).toMatchObject([
      { id: eff1, state: 'rejected' },
      { id: eff2, state: 'approved' },
    ]);
    const ask = (seq: number, more: object) =>
      runtime.report(
        'appendFragments',
        {
          leaseId,
          sandboxId,
          seq,
          fragments: [{ kind: 'elicitation', t: 4_000_000_000_000 + seq, toolUseId: `q${seq}`, ...more }],
        },
        '{ nextSeq }',
      );
    await ask(0, { body: 'Which one?', choices: ['A', 'B'] });
    const first = `${sandboxId}/0: Which one?\n  (A / B)\n`;
    expect((await aep('answer', runId)).stdout).toBe(first);
    await ask(1, { body: 'May I?', action: 'ci.deploy', parameter: '{"to":"live"}' });
    const second = `${sandboxId}/1: May I?\n  ci.deploy {"to":"live"}\n`;
    const several = `error: Several questions wait: name one with --question.\n${first}${second}`;
    expect((await aep('answer', runId, '--approve')).stderr).toBe(several);
    const one = await aep('answer', runId, '--approve', '--question', `${sandboxId}/1`);
    expect(one.stdout).toBe(`${second}Approved.\n`);
    expect((await aep('answer', runId, 'A')).stdout).toBe(`${first}Answered.\n`);
    expect((await aep('answer', runId)).stdout).toBe('No question is waiting.\n');
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    expect((await aep('continue', runId, 'Add a test.')).stderr).toMatch(/^error: .+checkpoint/);
    const again = await json('rerun', runId, '--detach');
    expect(again).toMatchObject({ prompt: 'Fix the clock.', agentId: agent, status: 'dispatching', projectId });
    expect(again.id).not.toBe(runId);
    await aep('cancel', again.id);
  });

  it('`aep inbox` lists the missions that wait for the person to act, hides them and shows them again', async () => {
    await world
      .knex('runs')
      .where({ missionTitle: 'Fix the clock.' })
      .update({ status: 'failed', reason: 'It broke.' });
    await world.knex('runs').where({ missionTitle: 'Fix the clock.' }).update({ finishedAt: present() });
    const items: { id: string; title: string; runId: string }[] = await json('inbox');
    const item = items.find(({ title }) => title === 'Fix the clock.')!;
    expect(item).toMatchObject({ kind: 'failure', detail: 'It broke.' });
    expect((await aep('inbox')).stdout).toContain(`aep logs ${item.runId}`);
    expect((await aep('inbox', 'done', item.id)).stdout).toBe(`${item.id} is done.\n`);
    expect(await json('inbox', '--hidden')).toMatchObject([{ id: item.id, isDone: true }]);
    expect((await aep('inbox', 'undo', item.id)).stdout).toBe(`${item.id} is in the inbox again.\n`);
  });

  it('`aep` lists agents and issues, tries out and restores versions of an agent, and prints the URL of a mission’s page', async () => {
    expect((await aep('agents')).stdout).toMatch(/^ID +NAME +ROLE +HARNESS +MODEL +BUILT IN\n/);
    expect((await json('agents', '--role', 'builder')).map(({ role }: { role: string }) => role)).toContain('builder');
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const made = { name: 'Cli builder', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token, body: made })).body;
    await world.rest('PATCH', `/agents/${id}`, { token, body: { model: 'claude-opus-4-5' } });
    expect(await json('agents', 'try', id, '1', '--percent', '20')).toMatchObject({ version: 2, trialVersion: 1 });
    expect((await aep('agents', 'versions', id)).stdout).toMatch(/^1 +20 % +claude-code +claude-sonnet-4-5/m);
    expect(await json('agents', 'end-trial', id)).toMatchObject({ version: 2, trialVersion: null });
    expect(await json('agents', 'restore', id, '1', '--note', 'Back')).toMatchObject({ version: 3 });
    const [issue] = await json('issues', '--project', 'web-shop', '--limit', '1');
    expect((await aep('issues')).stdout).toContain(issue.key);
    expect((await aep('open', issue.runId)).stdout).toBe(
      `${world.url}/console/o/ada-and-company/runs/${issue.runId}\n`,
    );
    expect((await aep('open')).stdout).toBe(`${world.url}/console/o/ada-and-company\n`);
    expect((await aep('open', 'lse_1')).code).toBe(1);
  });

  it('`aep open` opens an organization file by running the program of the service', async () => {
    const packed = path.join(folder, 'acme.aep');
    writeFileSync(packed, '');
    const missing = await start(['open', packed], { PATH: folder }).ended;
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/npm install --global \.\/agent-engineering-platform-\d+\.\d+\.\d+\.tgz\./),
    ]);
    const service = '#!/bin/sh\necho "$@" > "$0.called"\nexit 3\n';
    writeFileSync(path.join(folder, 'agent-engineering-platform'), service, { mode: 0o755 });
    expect((await start(['open', packed], { PATH: folder }).ended).code).toBe(3);
    expect(readFileSync(path.join(folder, 'agent-engineering-platform.called'), 'utf8')).toBe(`open ${packed}\n`);
  });

  it('`aep` creates, comments on, assigns and closes issues', async () => {
    const options = ['--body', 'It says 2019.', '--label', 'bug,footer'];
    const { id, key } = await json('issues', 'create', 'web-shop', 'Wrong year', ...options);
    const { userId } = await json('whoami');
    expect((await aep('issues', 'assign', id, userId)).stdout).toBe(`${id} (${key}) is open, assigned to ada.\n`);
    expect((await aep('issues', 'comment', id, 'It is 2026.')).stdout).toBe(
      'Added. No mission is working on the issue.\n',
    );
    expect((await aep('issues', 'assign', id, 'agn_builtin_shell')).stderr).toContain('assigneeId');
    expect((await aep('issues', 'close', id)).stdout).toBe(`${id} (${key}) is closed, assigned to ada.\n`);
    expect((await aep('issues', 'show', id)).stdout).toMatch(
      /TITLE +Wrong year\nSTATE +closed\nASSIGNEE +ada\nLABELS +bug, footer\n\nIt says 2019\.\n\nada, [^\n]+:\nIt is 2026\.\n$/i,
    );
    expect((await json('issues', '--state', 'closed'))[0]).toMatchObject({ id, body: 'It says 2019.' });
    expect((await json('issues', 'reopen', id)).state).toBe('open');
  });

  it('`aep run` leaves the mission running after Ctrl-C', async () => {
    const { child, ended } = start(['run', 'web-shop', 'sleep 1'], { AEP_TOKEN: token });
    const said = collect(child.stdout!);
    await vi.waitFor(() => expect(said()).toContain('dispatching'));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    const [id] = said().split('\n');
    expect((await world.rest('GET', `/runs/${id}`, { token })).body.status).toBe('dispatching');
    expect(stderr).toContain(`${id} continues.`);
    expect(stderr).toContain(`aep cancel ${id}`);
    await world.rest('POST', `/runs/${id}/cancel`, { token });
  });
});

describe('the command aep', () => {
  it('`aep` exits with 2 after a usage error, and with 1 and the request id after an error of the service', async () => {
    expect(await aep('projects', 'list', '--limit', 'many')).toMatchObject({ code: 2, stdout: '' });
    expect((await aep('--help')).code).toBe(0);
    const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'clients/cli/package.json'), 'utf8'));
    expect(await aep('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await aep('run', 'web-shop', 'x', '--budget', '-5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a number above 0.'),
    });
    const { code, stderr } = await aep('show', 'run_none');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Not found: No such run\.\nRequest id: req_\w+\n$/);
    const { error } = JSON.parse((await aep('show', 'run_none', '--json')).stderr);
    expect(error).toMatchObject({ status: 404, code: 'not_found', requestId: expect.stringMatching(/^req_/) });
    expect((await aep('projects', 'show', 'nowhere')).stderr).toBe(
      'error: There is no project nowhere. "aep projects list" shows ids.\n',
    );
    const url = `http://127.0.0.1:${await freePort()}`;
    const away = await start(['logout'], { AEP_URL: url }).ended;
    expect([away.code, away.stdout]).toEqual([0, `You were not signed in to ${url}.\n`]);
  });

  it('`aep tokens` answers with the URL of the console page for tokens', async () => {
    expect((await aep('tokens', 'create')).stdout).toBe(
      `A token cannot manage tokens. Use the console: ${world.url}/console/o/ada-and-company/tokens\n`,
    );
  });
});

describe('shell completion', () => {
  it('fish gets a script with every command', async () => {
    const { stdout } = await aep('completion', 'fish');
    for (const word of ['login', 'projects', 'artifacts', 'follow', 'detach']) expect(stdout).toContain(word);
  });

  it.skipIf(spawnSync('bash', ['--version']).error)(
    'bash completes commands, subcommands and their options',
    async () => {
      const { stdout: script } = await aep('completion', 'bash');
      const complete = async (...words: string[]) => {
        const shell = spawn('bash', [
          '-c',
          `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _aep; echo "\${COMPREPLY[@]}"`,
          '-',
          ...words,
        ]);
        return (await text(shell.stdout)).trim();
      };
      expect(await complete('aep', 'pro')).toBe('projects');
      expect(await complete('aep', 'projects', '')).toContain('list show create');
      expect(await complete('aep', 'logs', 'run_1', '--f')).toBe('--follow');
    },
  );
});
