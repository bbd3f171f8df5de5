// Tests of terminals, which people open in the sandbox of a running mission. The tests use a whole service, a real runner, and the client of
// the command line.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { readFrom, writeTo } from '../../../clients/cli/src/terminal.ts';
import { type Client, createClient, type Terminal } from '../../../clients/typescript/src/exports.ts';
import { startShell } from '../../../src/runner/isolation/shell.ts';
import { openBrowser } from '../../support/browser.ts';
import { createOwner } from '../../support/callers.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import { createPageInspector } from '../../support/page-inspector.ts';
import { runningCommands } from '../../support/processes.ts';
import { realEngine } from '../../support/real-engine.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The page of a terminal is not tested: ${launched}.`);

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let client: Client;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder');
  client = createClient({ url: missions.world.url, token: missions.alice.token });
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

const size = { width: 100, height: 30 };

/** A mission whose agent waits for a message. */
async function waiting(settings: Record<string, string> = {}): Promise<string> {
  missions.startRunner(settings);
  const runId = await missions.mission('[draft] [wait]');
  await missions.isShown(runId, 'I wait');
  return runId;
}

/** Opens a terminal and collects what it prints. */
async function attach(runId: string, from = client) {
  const { id } = await from.openTerminal({ runId, ...size });
  const over = new AbortController();
  const shell = writeTo(from, id, over.signal);
  let [printed, opened] = ['', null as Terminal | null];
  const ended = readFrom(from, id, over.signal, {
    opened: (terminal) => {
      opened = terminal;
    },
    output: (text) => {
      printed += text;
    },
  }).finally(() => over.abort());
  ended.catch(() => {});
  const shows = (text: string | RegExp) =>
    missions.until(async () => (typeof text === 'string' ? printed.includes(text) : text.test(printed)));
  await missions.until(async () => opened);
  return { id, shell, shows, ended, opened: opened!, printed: () => printed, leave: () => over.abort() };
}

/** The stored output of a terminal. */
async function latestOutput(terminalId: string): Promise<string> {
  const pieces = missions.world.knex('terminal_pieces').where({ terminalId, isInput: false }).orderBy('seq');
  return (await pieces.pluck('content')).join('');
}

/** Settings of an isolation, or the reason why this machine does not have it. */
function settingsOf(level: string): Record<string, string> | string {
  if (level === 'none') return {};
  if (level === 'cell') {
    const works = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0;
    return works ? { ISOLATION: 'cell', CONFINEMENT: 'auto' } : 'there is no bubblewrap';
  }
  const engine = realEngine();
  const found = engine && { ...engine, ISOLATION: 'container', CONFINEMENT: 'auto', HOME: process.env.HOME ?? '/' };
  return found ?? 'there is no engine on this machine';
}

describe.each(['none', 'cell', 'container'])('a terminal with the isolation %s', (level) => {
  it('a terminal is a shell in the checkout, with a terminal device that can be interrupted and resized, and is recorded', async ({
    skip,
  }) => {
    const settings = settingsOf(level);
    if (typeof settings === 'string') return skip(settings);
    const runId = await waiting(settings);
    const { id, opened, shell, shows, ended, printed } = await attach(runId);
    expect(opened).toMatchObject({ status: 'open', hasDevice: true, author: 'Alice', ...size });
    shell.write('cat draft.txt; echo $((6*7)); stty size; sleep 612\r');
    await shows(/draft\r\n42\r\n30 100\r\n/);
    await client.resizeTerminal({ terminalId: id, width: 90, height: 20 });
    shell.write('\x03');
    shell.write('stty size; touch by-hand; exit 3\r');
    expect(await ended).toMatchObject({ status: 'ended', reason: 'The shell has ended with the exit code 3.' });
    expect(printed()).toContain('20 90');
    // The agent sees what the person has changed.
    await missions.say(runId, '[look]');
    await missions.ended(runId);
    expect(await missions.isShown(runId, 'I see')).toContain('by-hand=');
    const { body } = await missions.world.rest('GET', `/artifacts?runId=${runId}`, { token: missions.alice.token });
    const recording = body.data.find(({ caption }: { caption: string }) => caption.startsWith('Terminal of Alice, '));
    expect(recording).toMatchObject({ kind: 'log', contentType: 'text/plain' });
    expect(await (await fetch(recording.url)).text()).toBe(printed());
  });
});

it('a terminal belongs to one person and ends with its step; a run has at most four', async () => {
  const runId = await waiting();
  const bob = await createOwner(missions.world, 'Bob', 'Other');
  const stranger = createClient({ url: missions.world.url, token: bob.token });
  await expect(stranger.openTerminal({ runId, ...size })).rejects.toThrow('No such run');
  const [first, second] = [await attach(runId), await attach(runId)];
  await expect(stranger.writeTerminal({ terminalId: first.id, seq: 0, text: 'x' })).rejects.toThrow('No such terminal');
  first.shell.write('A=first\r');
  second.shell.write('echo "[$A]"\r');
  await second.shows('[]');
  for (const _ of [3, 4]) await client.openTerminal({ runId, ...size });
  await expect(client.openTerminal({ runId, ...size })).rejects.toThrow('A mission can have at most 4 open terminals.');
  await expect(client.writeTerminal({ terminalId: first.id, seq: 9, text: 'x' })).rejects.toThrow(
    'seq: must be 1, the next number: 9 would leave a gap',
  );
  await client.closeTerminal({ terminalId: second.id });
  expect(await second.ended).toMatchObject({ status: 'ended', reason: 'The person has closed it.' });
  await missions.say(runId, 'Go on.');
  expect(await first.ended).toMatchObject({ reason: 'The step has ended.' });
  await missions.ended(runId);
  await expect(client.openTerminal({ runId, ...size })).rejects.toThrow(
    'The mission has no sandbox now: the run is completed.',
  );
  await expect(client.writeTerminal({ terminalId: first.id, seq: 1, text: 'x' })).rejects.toThrow(
    'The terminal has ended: The step has ended.',
  );
});

it('when the shell of a terminal ends, its jobs end too, including those that ignore the hangup', async () => {
  const mark = `615.${process.pid}`;
  const isLeft = () => runningCommands().includes(`sleep ${mark}`);
  const wrap = (program: string, args: string[], env?: Record<string, string>): [string, string[], typeof env] => [
    program,
    args,
    env,
  ];
  const shell = await startShell(
    {
      ...{ cwd: '/tmp', env: { PATH: process.env.PATH! }, account: undefined, wrap },
      ...{ group: undefined, container: undefined, watchdogArguments: undefined },
    },
    ['-i'],
    size,
    { output: () => {}, ended: () => {} },
  );
  shell.write(`(trap '' HUP; exec sleep ${mark}) &\n`);
  await vi.waitFor(() => expect(isLeft()).toBe(true));
  await shell.end();
  await vi.waitFor(() => expect(isLeft()).toBe(false));
});

it('the shell of a terminal is paused when it prints more than can be sent, and ends with its jobs when its runner is lost', async () => {
  const runId = await waiting();
  const terminal = await attach(runId);
  terminal.shell.write(
    `head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end-$((1+1)); sleep 613.${process.pid} & yes\r`,
  );
  await terminal.shows(/end-2[\s\S]*y\r\ny\r\n/);
  expect(
    terminal
      .printed()
      .match(/x+/g)!
      .some(({ length }) => length === 1_000_000),
  ).toBe(true);
  const pieces = missions.world.knex('terminal_pieces').where({ terminalId: terminal.id, isInput: false });
  const before = (await pieces.clone()).length;
  await missions.until(async () => terminal.printed().length > 1_300_000);
  expect(before).toBeLessThanOrEqual(64);
  expect((await pieces.clone()).length).toBeLessThanOrEqual(64);
  await missions.loseRunner(runId);
  expect(await terminal.ended).toMatchObject({ reason: 'The runtime no longer works on the mission.' });
  // When its terminal device is closed, the shell ends with its jobs.
  await missions.until(async () => !runningCommands().includes(`sleep 613.${process.pid}`));
});

it('a terminal ends a minute after the person who opened it disconnects, and uses pipes if the package for terminal devices is missing', async () => {
  const runId = await waiting({ NODE_OPTIONS: `--import ${path.resolve('test/support/no-devices.mjs')}` });
  const { opened, shell, shows, leave, id } = await attach(runId);
  expect(opened.hasDevice).toBe(false);
  shell.write('cat draft.txt\n');
  await shows('draft\n');
  leave();
  missions.turn(61_000);
  // The announcement wakes the request for input, which would otherwise look again only after ten seconds.
  await transaction((trx) => announce(trx, id));
  await missions.until(async () => (await missions.world.knex('terminals').where({ id }).first()).endedAt);
  const { reason } = await missions.world.knex('terminals').where({ id }).first();
  expect(reason).toBe('Nobody was connected for 60 seconds.');
});

it.skipIf(typeof launched === 'string')(
  'the page of a terminal shows the shell, and closes it when the person leaves',
  async () => {
    const { world, alice } = missions;
    const runId = await waiting();
    const pages = createPageInspector(launched as Exclude<typeof launched, string>, world.url);
    try {
      const page = await pages.open(await world.session(alice.person, alice.organization.id));
      await page.goto(`/console/o/${alice.organization.slug}/runs/${runId}`);
      await page.getByRole('link', { name: 'Terminal' }).click();
      const shell = page.locator('.shell .xterm-rows');
      await shell
        .getByText(/[#$] $/)
        .first()
        .waitFor();
      await page.keyboard.type("PS1='a prompt of more than twenty characters$ '; echo in-the-browser-$((40+2))");
      await page.keyboard.press('Enter');
      await shell.getByText('in-the-browser-42').waitFor();
      // Without a connection, the page keeps the typed text and the new size of the window, and sends both later. The output that it already shows is
      // not repeated.
      const screenWidth = async () => (await page.locator('.shell .xterm-screen').boundingBox())!.width;
      const before = await screenWidth();
      await page.context().setOffline(true);
      await page.setViewportSize({ width: 1000, height: 720 });
      await missions.until(async () => (await screenWidth()) < before);
      await page.locator('.shell textarea').focus();
      await page.keyboard.type('echo once-$((40+3))');
      await page.keyboard.press('Enter');
      await page.getByText('What you type is sent once the connection is back.').waitFor();
      // While the page is offline, the shell draws its prompt for a narrow device, over several lines, and then for a wide one.
      const { id, width, height } = await world.knex('terminals').where({ runId }).first();
      for (const size of [
        { width: 20, height },
        { width, height },
      ]) {
        await client.resizeTerminal({ terminalId: id, ...size });
        await missions.until(async () => (await latestOutput(id)).split(`;${size.width}x`)[1]?.includes('prompt'));
      }
      await page.context().setOffline(false);
      await page.keyboard.type('#');
      await shell.getByText('once-43').waitFor();
      await expect.poll(() => shell.getByText('in-the-browser-42').count()).toBe(1);
      await missions.until(async () => (await world.knex('terminals').where({ id }).first()).width < width);
      await pages.inspect(page, 'terminal');
      // The policy refuses some inline styles of xterm.js, which does without them.
      const expected = /ERR_INTERNET_DISCONNECTED|Applying inline style/;
      for (const problem of pages.takeProblems()) expect(problem).toMatch(expected);
      await page.getByRole('link', { name: 'Mission', exact: true }).click();
      await missions.until(async () => (await world.knex('terminals').where({ runId }).first()).endedAt);
      expect(await world.knex('terminals').where({ runId }).first()).toMatchObject({
        reason: 'The person has closed it.',
      });
      await page.getByRole('link', { name: 'Terminal' }).click();
      await shell
        .getByText(/[#$] $/)
        .first()
        .waitFor();
      await missions.steer('cancelRun', runId);
      await page.getByText('The shell has ended.').waitFor();
      await page.getByRole('button', { name: 'Open another shell' }).click();
      await page.getByText('the run is canceled').waitFor();
    } finally {
      await pages.close();
    }
  },
);
