// The choice of a runner's confinement, independent of the test machine. local-runner.test.ts tests the effect of each kind.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { unprivilegedOptions } from '../../../src/runner/isolation/bubblewrap.ts';
import {
  chooseConfinement,
  commandFor,
  isOffered,
  type Kind,
  newAccount,
} from '../../../src/runner/isolation/confinement.ts';
import { makePlace } from '../../../src/runner/isolation/place.ts';

const offering =
  (...kinds: Kind[]) =>
  async (kind: Kind) =>
    kind === 'none' || kinds.includes(kind);

describe('the confinement of scripts', () => {
  it.each<[Kind, Kind[]]>([
    ['bubblewrap', ['unshare', 'bubblewrap']],
    ['unshare', ['unshare']],
    ['none', []],
  ])('the confinement of scripts is %s where %j are available', async (kind, offered) => {
    expect((await chooseConfinement('auto', false, offering(...offered))).kind).toBe(kind);
  });

  it('the description of the confinement states what a script can reach when the runner is root, and when it is another user', async () => {
    const said = async (isRoot: boolean, ...kinds: Kind[]) =>
      (await chooseConfinement('auto', isRoot, offering(...kinds))).description;
    expect(await said(true, 'bubblewrap')).toMatch(
      /^Scripts run as a user of their own, confined by bubblewrap: no net/,
    );
    expect(await said(false, 'unshare')).toMatch(
      /^Scripts run as the user of this runner, confined by unshare: no net/,
    );
    expect(await said(true)).toMatch(/^Scripts run as a user of their own and are NOT confined .* every user of this/);
    expect(await said(false)).toMatch(
      /^Scripts run as the user of this runner and are NOT confined .* the service key/,
    );
  });

  it('the confinement of scripts is the one that the setting names; the runner fails if that confinement does not work', async () => {
    expect((await chooseConfinement('unshare', false, offering('bubblewrap', 'unshare'))).kind).toBe('unshare');
    await expect(chooseConfinement('bubblewrap', false, offering('unshare'))).rejects.toThrow(
      'CONFINEMENT: bubblewrap does not work on this machine.',
    );
    await expect(chooseConfinement('docker', false)).rejects.toThrow(
      'CONFINEMENT: must be auto, bubblewrap, unshare, none.',
    );
  });
});

const isHardened = (await isOffered('bubblewrap')) && unprivilegedOptions().includes('--disable-userns');
it.runIf(isHardened)(
  'a script in bubblewrap has no capabilities, creates no user namespaces, and runs in a session of its own',
  async () => {
    const account = await newAccount();
    const script =
      'unshare -Ur true 2>&- && echo namespace; grep CapBnd /proc/self/status; cut -d" " -f6 /proc/$$/stat';
    const place = await makePlace(script, account);
    const [program, args] = commandFor('bubblewrap', place);
    const printed = execFileSync(program, args, { ...account, cwd: place.work, encoding: 'utf8' });
    // The last line that the script prints is the id of its session. It would be 0 if the session belonged to a process outside the confinement,
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
