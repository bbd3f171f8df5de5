// A mission in which an agent works on a repository, from the checkout to the push. The tests repeat it for each user account of a runner and each
// isolation of its agents. Nothing is simulated: an isolation that the machine does not offer is skipped, and the reason is shown.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { pinned, programIn } from '../../../src/runner/harness/pinned.ts';
import { testedVersions } from '../../../src/runner/harness/versions.ts';
import { createProject } from '../../support/callers.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import { combinations, isRoot, settingsOf } from '../../support/runner-levels.ts';

const standInServer = fileURLToPath(new URL('../../support/stand-in-stdio-mcp.mjs', import.meta.url));

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder', 'researcher');
  const { id: orgId } = missions.alice.organization;
  const origin = { vendor: 'builtin', vendorKind: 'scm', displayName: 'Code' } as const;
  await connectIntegration({ orgId, ...origin, externalOrgId: missions.folder });
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

describe.each(combinations)('a runner of $user.name with the isolation $level', ({ user, level }) => {
  it('a runner checks the repository out, takes checkpoints, pushes, continues from a checkpoint, and lets a researcher read files', async ({
    skip,
  }) => {
    const settings = settingsOf(user, level);
    if (typeof settings === 'string') return skip(settings);
    const { folder, world, alice } = missions;
    const name = `acme/${level}-${isRoot && !user.account ? 'root' : 'user'}`;
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=a', '-c', 'user.email=a@a', '-c', `safe.directory=${folder}/${name}`, ...args],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );
    git('init', '-q', '-b', 'main', name);
    writeFileSync(path.join(folder, name, 'a.txt'), 'old\n');
    copyFileSync(standInServer, path.join(folder, name, 'server.mjs'));
    const declared = { own: { command: 'node', args: ['server.mjs'], env: { TOKEN: 'of-the-server' } } };
    writeFileSync(path.join(folder, name, 'service.yml'), JSON.stringify({ mcpServers: declared }));
    git('-C', name, 'add', '.');
    git('-C', name, 'commit', '-qm', 'first');
    const own = path.join(folder, path.basename(name));
    mkdirSync(own);
    chmodSync(own, 0o711);
    const installed = pinned('opencode');
    const program = typeof installed === 'object' ? programIn(path.join(own, 'harnesses'), installed) : null;
    if (program) {
      mkdirSync(path.dirname(program), { recursive: true });
      writeFileSync(program, `#!/bin/sh\necho ${testedVersions.opencode.from}\n`, { mode: 0o755 });
    }
    if (user.account) execFileSync('chown', ['-R', `${user.account.uid}`, own, path.join(folder, name)]);
    const projectId = await createProject(world, alice, name, { repoFullName: name });
    const runner = missions.startRunner(
      { ISOLATION: level, TMPDIR: own, HOME: own, HARNESSES_DIR: `${own}/harnesses`, ...settings },
      user.account,
    );

    const bind = (body: object) =>
      world.rest('PUT', `/mcp/projects/${projectId}/servers/own`, { token: alice.token, body });
    await bind({ roles: ['builder'] });
    const first = await missions.mission('[commit] [draft]', projectId);
    expect(await missions.ended(first), runner.output).toMatchObject({ status: 'completed', lastError: null });
    if (program) expect(runner.output).toContain(`opencode ${testedVersions.opencode.from}: ${program}`);
    const headSha = git('-C', name, 'rev-parse', `mission/${first}`);
    expect(git('-C', name, 'show', '--format=%an: %s', '--name-only', headSha.trim())).toBe(
      'builder: Say new\n\na.txt\n',
    );
    await bind({ roles: ['builder'], approvedTools: [{ name: 'look', attestedReadOnly: true }] });
    const go = 'mutation ($r: String!, $p: String!) { continueRun(runId: $r, prompt: $p) { id } }';
    const { id: next } = await missions.graphql(go, {
      r: first,
      p: '[use:own.look {}] [run]\ngit add draft.txt && git commit -qm Draft; grep -al of-the-server /proc/[0-9]*/environ > "$ARTIFACTS/seen.txt"',
    });
    expect(await missions.ended(next), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const log = git('-C', name, 'log', '--format=%s', `main..mission/${next}`);
    // The agent sees the answers of its MCP server, but not the server's variables.
    expect((await missions.shown(next)).join('\n')).toContain('own:  token of-the-server key none in ');
    const { body: kept } = await world.rest('GET', `/artifacts?projectId=${projectId}`, { token: alice.token });
    const seen = kept.data.find(({ caption }: { caption: string }) => caption === 'seen.txt');
    if (level !== 'none') expect(await (await fetch(seen.url)).text()).toBe('');
    expect(log).toBe('Draft\nSay new\n');
    expect(await missions.log(next, 'system')).toContain('The mission begins from the checkpoint');

    if (level === 'none') return;
    const { id: agentId } = await world.knex('agents').where({ role: 'researcher' }).first('id');
    const look =
      '[run]\necho x > a.txt || cp a.txt "$ARTIFACTS/read.txt"; rm -rf .git; git log -1 > "$ARTIFACTS/log.txt"';
    const start =
      'mutation ($p: String!, $l: String!, $a: String!) { startMission(projectId: $p, prompt: $l, agentId: $a) { id } }';
    const { id: research } = await missions.graphql(start, { p: projectId, l: look, a: agentId });
    expect(await missions.ended(research), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const { artifacts } = await missions.look(research);
    expect(artifacts.map(({ caption }: { caption: string }) => caption).sort()).toEqual(['log.txt', 'read.txt']);

    // Metrics of cells are tested elsewhere.
    if (level !== 'container') return;
    const waiting = await missions.mission('[wait] [run]\nhead -c 30000000 /dev/urandom > made.bin', projectId);
    const samples = () =>
      world.knex('sandbox_metrics as m').join('sandboxes as s', 's.id', 'm.sandboxId').where('s.runId', waiting);
    for (const column of ['cpuPct', 'memUsedMb', 'diskUsedPct'])
      await missions.until(() => samples().where(`m.${column}`, '>', 0).first('s.id'));
    await missions.graphql('mutation ($r: String!) { cancelRun(runId: $r) { id } }', { r: waiting });
    expect(await missions.ended(waiting)).toMatchObject({ status: 'canceled' });
  });
});
