// The reach of an agent that tries to escape, with a stand-in harness that does what its prompt says.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { chooseIsolation } from '../../src/runner/isolation/isolation.ts';
import { createProject } from '../support/callers.ts';
import { openMissionWorld } from '../support/mission-world.ts';
import { projectFolder } from '../support/processes.ts';

const hasCell = (await chooseIsolation(undefined, 'http://localhost')) !== null;
const docker = fileURLToPath(new URL('../support/stand-in-docker.mjs', import.meta.url));
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let engine: Record<string, string>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder');
  const state = path.join(missions.folder, 'engine');
  mkdirSync(state);
  engine = { CONTAINER_PROGRAM: docker, DOCKER_HOST: `file://${state}` };
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

const content = async (runId: string, caption: string): Promise<string> => {
  const { body } = await missions.world.rest('GET', `/artifacts?runId=${runId}`, { token: missions.alice.token });
  const artifact = body.data.find((one: { caption: string; runId: string }) => one.caption === caption);
  return (await fetch(artifact.url)).text();
};

/** Prints everything about others that it can find, and ends with `done`. */
const looking = (others: string) => `{
env; cat /proc/[0-9]*/environ; cat /proc/[0-9]*/cmdline
ls -d ${missions.folder}/mission-*; cat ${missions.folder}/mission-*/work/*; cat ${others}
ls ${projectFolder}; cat ${projectFolder}/package.json; ls /root /home
mount -t tmpfs tmpfs /mnt && echo may'' mount; touch /usr/mark && echo changes'' the system
${process.execPath} -e "
  const { connect } = require('node:net');
  const reach = (name, to) => new Promise((resolve) => connect(to).on('connect', () => resolve(console.log('rea' + 'ches', name))).on('error', resolve));
  (async () => {
    await reach('the platform', { host: '127.0.0.1', port: ${new URL(missions.world.url).port} });
    await reach('the model', { host: '127.0.0.1', port: ${new URL(missions.models.url).port} });
    await reach('hosts', { host: '192.0.2.1', port: 80, timeout: 500 });
    const answer = await fetch(process.env.ANTHROPIC_BASE_URL.replace('/anthropic', '/mcp/others'), { headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY } });
    console.log('gateway', answer.status);
  })();"
} > "$ARTIFACTS/saw.txt" 2>&1; echo done`;

describe.skipIf(!hasCell).each(['cell', 'container'])('an agent in a %s', (level) => {
  it('finds no token of the runner, no keys, no files of others and no host', async () => {
    const others = path.join(missions.folder, 'secret');
    writeFileSync(others, 'of-somebody-else', { mode: 0o644 });
    missions.startRunner({ ISOLATION: level, ...engine, RUNS_AT_ONCE: '2' });
    const neighbour = await missions.mission('[run]\necho of-the-neighbour > a.txt; sleep 600');
    const isAt = (name: string) => existsSync(path.join(missions.folder, name, 'work/a.txt'));
    await missions.until(async () => readdirSync(missions.folder).some(isAt));
    const runId = await missions.mission(`[run]\n${looking(others)}`);
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed' });
    const saw = await content(runId, 'saw.txt');
    expect(saw).toContain('gateway 403');
    expect(saw).not.toMatch(/of-somebody-else|of-the-neighbour|real-key|may mount|changes the system|reaches/);
    expect(saw).not.toContain(missions.service);
    expect(saw).not.toContain('"agent-engineering-platform"');
    expect(saw.match(/^.*\/mission-\w+$/gm)).toHaveLength(1);
    await missions.graphql('mutation ($r: String!) { cancelRun(runId: $r) { id } }', { r: neighbour });
  });
});

// Other shells number open files only up to 9, and Node.js itself closes the first fifteen.
it.skipIf(spawnSync('bash', ['-c', 'true']).status !== 0)(
  'agents do not inherit open files of the runner',
  async () => {
    const { folder } = missions;
    missions.startRunner({}, { launcher: ['bash', '-c', `exec 60<'${folder}'; exec "$@"`, 'bash'] });
    const runId = await missions.mission('[run]\n[ -e /proc/self/fd/60 ] && echo leaks > "$ARTIFACTS/saw.txt"; true');
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed', artifacts: [] });
    await missions.killRunners();
  },
);

describe('an agent that plants traps', () => {
  it('runs nothing outside its own processes, and uploads nothing through symbolic links', async () => {
    const { folder, alice } = missions;
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });
    git('init', '-q', '-b', 'main', 'acme/site');
    writeFileSync(path.join(folder, 'acme/site/a.txt'), 'old\n');
    git('-C', 'acme/site', 'add', '.');
    git('-C', 'acme/site', 'commit', '-qm', 'first');
    const { id: orgId } = alice.organization;
    const origin = { vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: folder } as const;
    await connectIntegration({ orgId, ...origin });
    const projectId = await createProject(missions.world, alice, 'Site', { repoFullName: 'acme/site' });
    const secret = path.join(folder, 'secret.txt');
    writeFileSync(secret, 'of-somebody-else');
    const mark = path.join(folder, 'sprung');
    // The runner's git has no home; the agent's has one.
    const trap = `#!/bin/sh\nif [ "$HOME" = /nonexistent ]; then touch ${mark}; fi\n`;
    missions.startRunner();
    const runId = await missions.mission(
      `[run]
printf '%s' '${trap}' > trap.sh; chmod +x trap.sh; mkdir .hooks; cp trap.sh .hooks/pre-push; cp trap.sh .hooks/reference-transaction
for key in core.fsmonitor core.sshCommand uploadpack.packObjectsHook diff.external core.pager; do git config $key "$PWD/trap.sh"; done
git config core.hooksPath "$PWD/.hooks"; git config filter.evil.smudge "$PWD/trap.sh"; echo '* filter=evil' > .gitattributes
ln -s ${secret} link.txt; ln -s ${folder} outside; ln -s ${secret} "$ARTIFACTS/link.txt"; ln -s / "$ARTIFACTS/root"
echo harmless > "$ARTIFACTS/change.diff"; git -c core.fsmonitor= add -A; git -c core.hooksPath=/dev/null commit -qm 'Plant traps'; echo planted`,
      projectId,
    );
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', lastError: null });
    // The agent's own file is an artifact like every other: people review the diff that the runner has reported.
    const names = run.artifacts.map(({ caption }: { caption: string }) => caption);
    expect(names).toEqual(['change.diff', 'change.diff']);
    const ask = 'query ($r: String!) { run(runId: $r) { changeDiff { url } } }';
    const { changeDiff } = await missions.graphql(ask, { r: runId });
    const diff = await (await fetch(changeDiff.url)).text();
    expect(diff).toContain('+++ b/link.txt');
    expect(diff).not.toContain('of-somebody-else');
    expect(git('-C', 'acme/site', 'log', '-1', '--format=%s', `mission/${runId}`)).toBe('Plant traps\n');
    expect(readdirSync(folder)).not.toContain('sprung');
  });
});
