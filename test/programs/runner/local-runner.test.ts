// src/runner against a whole service: real processes run real scripts, are killed, stopped and replaced.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promises, readdirSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServiceToken, revokeServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { seconds } from '#foundation/clock.ts';
import { cacheVariables } from '../../../src/runner/isolation/package-caches.ts';
import { isOffered } from '../../../src/runner/isolation/script-isolation.ts';
import { endLease } from '../../support/mission-world.ts';
import { isRunning } from '../../support/processes.ts';
import { openScriptWorld } from '../../support/script-world.ts';

const {
  world,
  acme,
  alice,
  folder,
  service,
  turn,
  killRunners,
  startRunner,
  mission,
  look,
  until,
  ended,
  detail,
  log,
  close,
} = await openScriptWorld();
afterAll(close);

describe('one local runner', () => {
  beforeAll(() => void startRunner(service, { RUNS_AT_ONCE: '5' }));
  afterAll(killRunners);

  it('a local runner runs a script and stores its log, artifacts and costs', async () => {
    const mark = path.join(folder, 'measured');
    const script = `
      echo "::plan One | Two | Three"; echo "::step One"; echo "::step Four"; echo "::thought Let me see"; echo "::progress 50 Halfway"; echo "::cost 0.25"
      echo "größe: \${PLATFORM_TOKEN:-none}"; echo "to the other side" >&2
      mkdir site; echo hello > site/index.html; echo "::preview site"
      until [ -e ${mark} ]; do sleep 0.05; done
      echo "::step Three"; printf '# Done' > "$ARTIFACTS/report.md"; printf '\\0\\1\\377' > "$ARTIFACTS/raw.bin"; echo "::response Done"`;
    const runId = await mission(script);
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    await until(
      () => detail(sandboxes[0].sandboxId),
      ({ metrics, liveFragments }) =>
        metrics.length > 0 && liveFragments.some(({ action }: { action: string | null }) => action === 'preview'),
    );
    await promises.writeFile(mark, '');
    const run = await ended(runId);
    expect(run).toMatchObject({
      status: 'completed',
      missionProgress: 100,
      missionActivity: 'Halfway',
      missionCostUsd: 0.25,
    });
    const [sandbox] = run.sandboxes;
    expect(sandbox).toMatchObject({ status: 'completed', terminationReason: 'completed' });

    const { content, bytes } = await log(sandbox);
    // Nothing of the runner's environment reaches the script.
    expect(content.split('\n').sort()).toEqual(['', '::step Four', 'größe: none', 'to the other side']);
    expect(bytes).toBe(Buffer.byteLength(content));
    expect((await log(sandbox, 'prompt')).promptSpans).toEqual([{ id: 'mission', content: script }]);
    expect((await log(sandbox, 'system')).content).toContain(`node ${process.version}`);

    const { liveFragments, metrics, sessions } = await detail(sandbox.sandboxId);
    const shown = liveFragments.map(({ kind, body, action }: Record<string, string>) => [kind, body ?? action]);
    expect(shown).toEqual([
      ['plan', null],
      ['plan', null],
      ['thought', 'Let me see'],
      ['action', 'preview'],
      ['plan', null],
      ['response', 'Done'],
      ['plan', null],
    ]);
    const plans = liveFragments.filter(({ kind }: { kind: string }) => kind === 'plan');
    expect(plans.map(({ items }: { items: { status: string }[] }) => items.map(({ status }) => status))).toEqual([
      ['pending', 'pending', 'pending'],
      ['in_progress', 'pending', 'pending'],
      ['completed', 'pending', 'in_progress'],
      ['completed', 'skipped', 'completed'],
    ]);
    expect(metrics[0].memUsedMb).toBeGreaterThan(0);
    expect(sessions).toMatchObject([{ outcome: 'completed', totalCostUsd: 0.25 }]);

    const artifacts = run.artifacts.sort((a: { caption: string }, b: { caption: string }) =>
      a.caption.localeCompare(b.caption),
    );
    expect(artifacts).toMatchObject([
      { kind: 'file', contentType: 'application/octet-stream', caption: 'raw.bin', sizeBytes: 3 },
      { kind: 'report', contentType: 'text/markdown', caption: 'report.md', sizeBytes: 6 },
    ]);
    const raw = await (await fetch(artifacts[0].url)).arrayBuffer();
    expect([...new Uint8Array(raw)]).toEqual([0, 1, 255]);
    const { data } = (await world.rest('GET', '/environments', { token: alice })).body;
    expect(data).toMatchObject([{ status: 'destroyed', workerName: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }]);
  });

  it('a local runner accepts binary output and unusual file names of a script', async () => {
    const script = `
      echo "::cost 99999"; echo "::cost 1e999"; echo "::cost 0.1"; echo "::cost 0.2"; echo "::action"; echo "::plan |"
      echo "::progress 140"; echo "::progress 40 "; echo "::nothing"; printf 'nul \\0\\n'
      printf '::thought a\\0b\\n'; printf "::thought %020000d\\n" 1; echo "::plan $(seq -s '|' 60)"
      head -c 29000 /dev/zero | tr '\\0' x; echo; head -c 900000 /dev/zero | tr '\\0' y; echo
      printf '%0999d' 1; i=0; while [ $i -lt 50 ]; do i=$((i + 1)); printf '😀'; done; echo
      mkdir -p "$ARTIFACTS/a/b"; : > "$ARTIFACTS/a/b/empty.txt"; ln -s /etc/hosts "$ARTIFACTS/link"
      echo '{"criterion": "Pays by card", "passed": true}' > "$ARTIFACTS/d.txt.criterion.json"
      echo '{"criterion": "Pays by invoice"}' > "$ARTIFACTS/e.docx.criterion.json"
      echo '{"criterion": "No such file"}' > "$ARTIFACTS/g.criterion.json"; echo '{"criterion": 1}' > "$ARTIFACTS/c.png.criterion.json"
      echo text > "$ARTIFACTS/c.png"; printf '\\211PNG\\r\\n\\032\\n' > "$ARTIFACTS/d.txt"; printf 'PK\\003\\004' > "$ARTIFACTS/e.docx"`;
    const run = await ended(await mission(script));
    expect(run).toMatchObject({ status: 'completed', lastError: null, missionCostUsd: expect.closeTo(0.3, 6) });
    const byCaption = (a: { caption: string }, b: { caption: string }) => (a.caption < b.caption ? -1 : 1);
    expect(run.artifacts.sort(byCaption)).toMatchObject([
      { kind: 'log', caption: path.join('a', 'b', 'empty.txt'), sizeBytes: 0 },
      { kind: 'file', caption: 'c.png', contentType: 'text/plain', criterion: null },
      { kind: 'file', caption: 'c.png.criterion.json', contentType: 'application/json' },
      {
        kind: 'screenshot',
        caption: 'd.txt',
        contentType: 'image/png',
        criterion: 'Pays by card',
        criterionPassed: true,
      },
      { kind: 'file', caption: 'e.docx', criterion: 'Pays by invoice', criterionPassed: null },
      { kind: 'file', caption: 'g.criterion.json' },
    ]);
    const { content } = await log(run.sandboxes[0]);
    const [words, rest] = [content.split('\n').slice(0, 7), content.split('\n').slice(7)];
    expect(words).toEqual([
      '::cost 99999',
      '::cost 1e999',
      '::action',
      '::plan |',
      '::progress 140',
      '::nothing',
      'nul \u2400',
    ]);
    expect(rest).toEqual(['x'.repeat(29_000), 'y'.repeat(900_000), `${'0'.repeat(998)}1${'😀'.repeat(50)}`, '']);
    const { liveFragments } = await detail(run.sandboxes[0].sandboxId);
    const shown = liveFragments.map(
      ({ body, items }: { body: string | null; items: unknown[] }) => body ?? items.length,
    );
    // A plan without reports about its steps gets the outcome of the script.
    expect(shown).toEqual(['a\u2400b', '0'.repeat(16_384), 50, 50]);
    expect(new Set(liveFragments.at(-1).items.map(({ status }: { status: string }) => status))).toEqual(
      new Set(['completed']),
    );
  });

  it('a local runner hides its token and environment from a script without isolation, and logs that the script is not isolated', async () => {
    const script =
      'echo "user $(id -u)"; for one in /proc/[0-9]*/environ; do tr "\\0" "\\n" < $one; done 2>/dev/null; true';
    const run = await ended(await mission(script));
    expect(run).toMatchObject({ status: 'completed' });
    const { content } = await log(run.sandboxes[0]);
    expect(content).not.toContain(service);
    const user = Number(/^user (\d+)$/m.exec(content)![1]);
    if (process.getuid!() === 0) expect(user).toBeGreaterThanOrEqual(61_184);
    else expect(user).toBe(process.getuid!());
    expect((await log(run.sandboxes[0], 'system')).content).toContain('NOT isolated (CONFINEMENT=none)');
  });

  it('a local runner serves the files of the run’s folder as a preview, and follows no link out of it', async () => {
    const outside = path.join(folder, 'outside');
    writeFileSync(outside, 'outside', { mode: 0o644 });
    const mark = path.join(folder, 'looked');
    const runId =
      await mission(`mkdir site; echo hello > site/index.html; ln -s ${outside} site/link; ln -s ${folder} site/up
      ln -s index.html site/same; mkfifo site/pipe; echo "::preview site"; until [ -e ${mark} ]; do sleep 0.05; done`);
    const environments = async () => (await world.rest('GET', '/environments', { token: alice })).body.data;
    const [{ workerName }] = await until(environments, ([newest]) => newest?.status === 'active');
    const asked = ['', 'same', 'link', 'up/outside', 'pipe', '..%2f..%2fmission.sh', '%2e%2e/mission.sh', '%00'];
    const answers = await Promise.all(asked.map(async (name) => (await fetch(`http://${workerName}/${name}`)).text()));
    expect(answers).toEqual(['hello\n', 'hello\n', ...asked.slice(2).map(() => 'Not found\n')]);
    await promises.writeFile(mark, '');
    await ended(runId);

    const elsewhere = await Promise.all(
      ['/etc', '..', '../artifacts', 'up'].map((shown) => mission(`ln -s / up; echo "::preview ${shown}"`)),
    );
    for (const { sandboxes } of await Promise.all(elsewhere.map(ended))) {
      const { liveFragments } = await detail(sandboxes[0].sandboxId);
      expect(liveFragments).toMatchObject([
        { kind: 'error', body: expect.stringMatching(/^no preview: .* is not in the folder of the run$/) },
      ]);
    }
  });

  it('a local runner ends a mission with its script, even if processes remain', async () => {
    const leaving = `require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'inherit' })`;
    const runId = await mission(`${process.execPath} -e "c = ${leaving}; console.log('pid', c.pid); c.unref()"`);
    const run = await ended(runId);
    expect(run).toMatchObject({ status: 'completed' });
    // The process is in a process group of its own, and still has the output of the script open.
    const pid = Number((await log(run.sandboxes[0])).content.match(/\d+/)[0]);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid);
  });

  it('a local runner removes a preview that a person destroys, and continues', async () => {
    const mark = path.join(folder, 'down');
    const runId = await mission(
      `mkdir site; echo hello > site/index.html; echo "::preview site"; until [ -e ${mark} ]; do sleep 0.05; done`,
    );
    const environments = async () => (await world.rest('GET', '/environments', { token: alice })).body.data;
    const [preview] = await until(environments, ([newest]) => newest?.status === 'active');
    expect(await (await fetch(`http://${preview.workerName}/`)).text()).toBe('hello\n');
    await world.rest('DELETE', `/environments/${preview.environmentId}`, { token: alice });
    await until(environments, ([newest]) => newest.status === 'destroyed');
    await expect(fetch(`http://${preview.workerName}/`)).rejects.toThrow('fetch failed');
    await promises.writeFile(mark, '');
    expect(await ended(runId)).toMatchObject({ status: 'completed' });
  });

  it('a local runner stops the script of a killed sandbox, and its child processes', async () => {
    const runId = await mission('sleep 600 & echo "pids $$ $!"; trap "" TERM; wait; sleep 600');
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pids'),
    );
    const pids = said.content.match(/\d+/g)!.map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await world.rest('POST', `/sandboxes/${sandboxes[0].sandboxId}/kill`, { token: alice });
    const run = await ended(runId);
    expect(run).toMatchObject({
      status: 'failed',
      lastError: 'stopped',
      sandboxes: [{ status: 'destroyed', terminationReason: 'killed' }],
    });
    expect(pids.map(isRunning)).toEqual([false, false]);
  });
});

describe('the local runner', () => {
  afterEach(killRunners);

  describe.each([
    ['bubblewrap', 'cell'],
    ['unshare', 'unshare'],
  ] as const)('isolates scripts by %s:', (kind, level) => {
    /**
     * Starts a runner with this isolation of scripts, and returns whether the machine offers it. If not, the runner exits with an error and runs no scripts.
     */
    async function startIsolated(more: Record<string, string> = {}): Promise<boolean> {
      const runner = startRunner(service, { CONFINEMENT: kind, ...more });
      if (await isOffered(level)) return true;
      const [code] = await once(runner.process, 'exit');
      expect([code, runner.output]).toEqual([1, `CONFINEMENT: ${kind} does not work on this machine.\n`]);
      return false;
    }

    it('a script reaches no network, and no processes or files of other missions', async () => {
      if (!(await startIsolated())) return;
      const secret = path.join(folder, 'secret');
      writeFileSync(secret, 'of somebody else', { mode: 0o644 });
      const ask = `fetch('${world.url}/livez').then(() => 'network', () => 'no network').then(console.log)`;
      const script = `
        [ -e ${secret} ] && echo "sees files"; [ -e /proc/${process.pid} ] && echo "sees processes"
        touch /usr/mark && echo "changes the system"; ls ${folder}; ls -d /home /root /var
        mount -t tmpfs tmpfs /mnt && echo "may mount"; umount /proc && echo "may unmount"
        cat /proc/*/environ | tr '\\0' '\\n' | grep -E 'srv_|CONFINEMENT' && echo "sees the runner"
        ${process.execPath} -e "${ask}"; pwd; echo written > file; echo kept > "$ARTIFACTS/kept.txt"; env | cut -d= -f1 | sort`;
      const run = await ended(await mission(script));
      const { content } = await log(run.sandboxes[0]);
      expect(content).not.toMatch(/sees|changes|may m|^\/(home|root|var)$/m);
      expect(content).toMatch(/^no network$/m);
      expect(content).toMatch(new RegExp(`^${folder}/mission-\\w+/work$`, 'm'));
      const names = content
        .trimEnd()
        .split('\n')
        .filter((line: string) => /^[A-Z_]+$/.test(line));
      const ofProxy = ['HTTPS_PROXY', 'HTTP_PROXY', 'JAVA_TOOL_OPTIONS', 'NODE_USE_ENV_PROXY', 'NO_PROXY'];
      const ofCell = [...ofProxy, ...Object.keys(cacheVariables(''))];
      expect(names.filter((name: string) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name))).toEqual(
        ['ARTIFACTS', 'HOME', 'LANG', 'PATH', 'RUN_ID', ...(kind === 'bubblewrap' ? ofCell : [])].sort(),
      );
      expect(run.artifacts).toMatchObject([{ caption: 'kept.txt', sizeBytes: 5 }]);
      expect((await log(run.sandboxes[0], 'system')).content).toContain(`isolated by ${kind}: no network`);
    });

    it('a local runner reports how a script ended, and ends processes that left its group', async () => {
      if (!(await startIsolated())) return;
      const leaving = `require('child_process').spawn('sleep', ['987654'], { detached: true, stdio: 'ignore' }).unref()`;
      const scripts = { 'exit code 3': 'exit 3', 'killed by SIGKILL': 'kill -KILL $$' };
      for (const [why, script] of Object.entries(scripts)) {
        expect(await ended(await mission(script))).toMatchObject({ status: 'failed', lastError: why });
      }
      expect(await ended(await mission(`${process.execPath} -e "${leaving}"`))).toMatchObject({ status: 'completed' });
      const commands = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => promises.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
      expect((await Promise.all(commands)).filter((command) => command.includes('987654'))).toEqual([]);
    });

    it('a local runner asks a script to end before killing it', async () => {
      if (!(await startIsolated({ GRACE_MS: '60000' }))) return;
      const runId = await mission(`trap 'echo asked; exit 0' TERM; echo ready; sleep 600 & wait`);
      const { sandboxes } = await until(
        () => look(runId),
        (run) => run.sandboxes.length > 0,
      );
      const said = () => log(sandboxes[0]).catch(() => ({ content: '' }));
      await until(said, ({ content }) => content.includes('ready'));
      await world.rest('POST', `/sandboxes/${sandboxes[0].sandboxId}/kill`, { token: alice });
      expect(await ended(runId)).toMatchObject({ lastError: 'stopped' });
      expect((await said()).content).toBe('ready\nasked\n');
    });
  });

  it('a local runner reports why a script failed', async () => {
    const { process: first } = startRunner(service, { RUNS_AT_ONCE: '2' });
    const scripts = {
      'exit code 3': 'echo no; exit 3',
      '1 of 16 tests failed (exit code 1)': 'echo "::error 1 of 16 tests failed"; exit 1',
      'killed by SIGKILL': 'kill -KILL $$',
      'The step has reached its time limit of 500 milliseconds.': 'sleep 600',
    };
    const [exit, reason, killed, timeout] = Object.values(scripts);
    const runs = await Promise.all([exit!, reason!, killed!].map(async (script) => ended(await mission(script))));
    first.kill('SIGTERM');
    await once(first, 'exit');
    startRunner(service, { TIMEOUT_MS: '500' });
    runs.push(await ended(await mission(timeout!)));
    expect(runs).toMatchObject(
      Object.keys(scripts).map((why) => ({
        status: 'failed',
        lastError: why,
        sandboxes: [{ terminationReason: why }],
      })),
    );
  });

  it('another runner takes over after SIGKILL, once the lease has expired', async () => {
    const first = startRunner();
    const mark = path.join(folder, 'mark');
    const runId = await mission(
      `if [ -e ${mark} ]; then echo second; else touch ${mark}; echo "pid $$"; sleep 600; fi`,
    );
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pid'),
    );
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    // The processes of the mission end too, although only their runner was killed.
    await until(
      async () => isRunning(Number(said.content.match(/\d+/)![0])),
      (running) => !running,
    );
    await endLease(() => look(runId), turn);
    startRunner();
    expect(await ended(runId)).toMatchObject({
      status: 'completed',
      sandboxes: [{ status: 'completed' }, { status: 'failed', terminationReason: 'the runtime was lost' }],
    });
  });

  it.each<[string, (runner: ChildProcess) => unknown]>([
    ['gets a SIGTERM', (runner) => runner.kill('SIGTERM')],
    ['has lost the platform that started it', (runner) => runner.stdin!.end()],
  ])('a local runner returns its run to the queue when it %s', async (_, leave) => {
    const runner = startRunner(service, { EXIT_WITH_PARENT: 'on' });
    const runId = await mission('echo "::preview ."; sleep 600');
    const environments = async () => (await world.rest('GET', '/environments', { token: alice })).body.data;
    await until(environments, ([newest]) => newest?.status === 'active');
    leave(runner.process);
    await once(runner.process, 'exit');
    expect(await look(runId)).toMatchObject({
      status: 'dispatching',
      missionActivity: 'Handed back: the runner is shutting down',
    });
    expect((await environments())[0]).toMatchObject({ status: 'destroyed' });
    // The next runner opens another preview.
    turn(seconds(11));
    startRunner();
    await until(environments, ([newest]) => newest.status === 'active');
    await world.graphql('mutation ($runId: String!) { cancelRun(runId: $runId) { id } }', {
      token: alice,
      variables: { runId },
    });
    await until(environments, ([newest]) => newest.status === 'destroyed');
  });

  it('a local runner stops soon when the platform is unavailable; its run does not fail, but can be claimed when its lease expires', async () => {
    const wire = createServer((request, response) => {
      const options = { method: request.method, headers: request.headers };
      const onward = forward(world.url + request.url, options, (answer) => answer.pipe(response));
      request.pipe(onward.on('error', () => response.destroy()));
    }).listen(0, '127.0.0.1');
    await once(wire, 'listening');
    const { port } = wire.address() as AddressInfo;
    const runner = startRunner(service, { PLATFORM_URL: `http://127.0.0.1:${port}` });
    const runId = await mission('echo "pid $$"; sleep 600');
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pid'),
    );
    wire.close();
    wire.closeAllConnections();
    runner.process.kill('SIGTERM');
    await once(runner.process, 'exit');
    expect(isRunning(Number(said.content.match(/\d+/)[0]))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith('mission-'))).toEqual([]);
    expect(await look(runId)).toMatchObject({ status: 'running', lastError: null });
    turn(seconds(61));
    await releaseSilentRuns();
    expect(await look(runId)).toMatchObject({ status: 'dispatching' });
    await world.knex('runs').where({ id: runId }).update({ status: 'canceled' });
  });

  it('two runners share twenty runs, each executed once', async () => {
    const more = { RUNS_AT_ONCE: '5' };
    startRunner(service, more);
    startRunner(service, more);
    const runs = await Promise.all(Array.from({ length: 20 }, (_, i) => mission(`echo number ${i}`)));
    const done = await Promise.all(runs.map(ended));
    expect(done.map(({ status, sandboxes }) => [status, sandboxes.length])).toEqual(runs.map(() => ['completed', 1]));
  });

  it('a local runner exits with a reason when its token is revoked, and ends its script', async () => {
    const { id, token } = await createServiceToken({ name: 'short-lived', orgId: acme.id });
    const runner = startRunner(token);
    const runId = await mission('echo "pid $$"; sleep 600');
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pid'),
    );
    const exit = once(runner.process, 'exit');
    await revokeServiceToken(id);
    expect([(await exit)[0], runner.output]).toEqual([
      1,
      expect.stringContaining('The platform rejected this runner: The bearer token'),
    ]);
    await until(
      async () => isRunning(Number(said.content.match(/\d+/)![0])),
      (running) => !running,
    );
  });

  it('a local runner exits with a reason when it gets no token', async () => {
    const runner = startRunner('');
    const [code] = await once(runner.process, 'exit');
    expect([code, runner.output]).toEqual([
      1,
      expect.stringContaining('A service token is required on standard input'),
    ]);
  });

  it('a local runner names the invalid setting', async () => {
    const runner = startRunner(service, { RUNS_AT_ONCE: 'two' });
    const [code] = await once(runner.process, 'exit');
    expect([code, runner.output]).toEqual([1, 'RUNS_AT_ONCE: must be a positive integer.\n']);
  });
});
