// The choice of the isolation of scripts, independent of the test machine. local-runner.test.ts tests the effect of each level.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { newAccount } from '../../../src/runner/isolation/accounts.ts';
import { unprivilegedOptions } from '../../../src/runner/isolation/bubblewrap.ts';
import type { Level } from '../../../src/runner/isolation/level.ts';
import { makePlace } from '../../../src/runner/isolation/place.ts';
import { chooseScriptIsolation, commandFor, isOffered } from '../../../src/runner/isolation/script-isolation.ts';

const offering =
  (...levels: Level[]) =>
  async (level: Level) =>
    level === 'none' || levels.includes(level);

describe('the isolation of scripts', () => {
  it.each<[Level, Level[]]>([
    ['cell', ['unshare', 'cell']],
    ['unshare', ['unshare']],
    ['none', []],
  ])('the isolation of scripts is %s where %j are available', async (level, offered) => {
    expect((await chooseScriptIsolation('auto', false, offering(...offered))).level).toBe(level);
  });

  it('the description of the isolation states what a script can reach when the runner is root, and when it is another user', async () => {
    const said = async (isRoot: boolean, ...levels: Level[]) =>
      (await chooseScriptIsolation('auto', isRoot, offering(...levels))).description;
    expect(await said(true, 'cell')).toMatch(/^Scripts run as a user of their own, isolated by bubblewrap: no net/);
    expect(await said(false, 'unshare')).toMatch(
      /^Scripts run as the user of this runner, isolated by unshare: no net/,
    );
    expect(await said(true)).toMatch(
      /^Scripts run as a user of their own and are NOT isolated \(neither .* every user of this/,
    );
    expect(await said(false)).toMatch(
      /^Scripts run as the user of this runner and are NOT isolated \(neither .* the service key/,
    );
    expect((await chooseScriptIsolation('none', false, offering('cell'))).description).toContain(
      'are NOT isolated (CONFINEMENT=none): ',
    );
  });

  it('the isolation of scripts is the one that the setting names; the runner fails if that isolation does not work', async () => {
    expect((await chooseScriptIsolation('unshare', false, offering('cell', 'unshare'))).level).toBe('unshare');
    await expect(chooseScriptIsolation('bubblewrap', false, offering('unshare'))).rejects.toThrow(
      'CONFINEMENT: bubblewrap does not work on this machine.',
    );
    await expect(chooseScriptIsolation('docker', false)).rejects.toThrow(
      'CONFINEMENT: must be auto, bubblewrap, unshare, none.',
    );
  });
});

const isHardened = (await isOffered('cell')) && unprivilegedOptions().includes('--disable-userns');
it.runIf(isHardened)(
  'a script in a cell has no capabilities, creates no user namespaces, and runs in a session of its own',
  async () => {
    const account = await newAccount();
    const script =
      'unshare -Ur true 2>&- && echo namespace; grep CapBnd /proc/self/status; cut -d" " -f6 /proc/$$/stat';
    const place = await makePlace(script, account);
    const [program, args] = commandFor('cell', place);
    const printed = execFileSync(program, args, { ...account, cwd: place.work, encoding: 'utf8' });
    // The last line that the script prints is the id of its session. It would be 0 if the session belonged to a process outside the cell,
    // which the script cannot see.
    expect(printed).toMatch(/^CapBnd:\t0+\n[1-9]\d*\n$/);
    await place.remove();
  },
);

it.runIf(process.getuid?.() === 0)(
  'the user id of a mission is not in use by any process of another runner',
  async () => {
    const { uid } = (await newAccount())!;
    const next = uid < 65_519 ? uid + 1 : 61_184;
    const other = spawn('sleep', ['60'], { uid: next, gid: next });
    await once(other, 'spawn');
    expect([uid, next]).not.toContain((await newAccount())!.uid);
    other.kill('SIGKILL');
  },
);
