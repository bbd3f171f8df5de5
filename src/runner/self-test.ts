// Tests a harness before the runner offers it: the harness's driver starts the program in the isolation that agents have, for one turn with
// a scripted model. A program that has passed is not tested again until its file changes.
import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from './contract.ts';
import type { Found, SelfTest } from './harness/discovery.ts';
import { drivers } from './harness/drivers.ts';
import { parsed } from './harness/fragments.ts';
import type { AgentHarness, HarnessEvent, Task } from './harness/port.ts';
import { script, startScriptedModel } from './harness/scripted-model.ts';
import { newAccount } from './isolation/accounts.ts';
import { ports, socketsOf } from './isolation/cell.ts';
import { openContainer } from './isolation/container.ts';
import { launchOf } from './isolation/isolation.ts';
import { hasEgress, type Isolation } from './isolation/level.ts';
import { makePlace } from './isolation/place.ts';
import { openGateway } from './protocol/gateway.ts';

/** Time limit of one test: a cold start takes five seconds, and much longer on a busy machine. */
const defaultTimeoutMs = 120_000;

const models: Record<AgentHarness, string> = {
  'claude-code': 'claude-sonnet-4-5',
  codex: 'gpt-5.5',
  opencode: 'messages/self-test',
  acp: 'claude-sonnet-4-5',
};

/** Returns a function that tests programs. @param folder Folder of the runner's data, where programs that have passed are recorded. */
export function openSelfTest(
  isolation: Isolation,
  limits: Limits,
  folder: string,
  timeoutMs = defaultTimeoutMs,
): SelfTest {
  const file = path.join(folder, 'harness-tests.json');
  const read = async () => parsed(await readFile(file, 'utf8').catch(() => '')) ?? {};
  return async (found) => {
    const { harness, program, version, command } = found;
    const { mtimeMs } = await stat(await realpath(program));
    const key = `${isolation.level} ${harness} ${program}`;
    const asked = command ? ` ${createHash('sha256').update(JSON.stringify(command)).digest('hex')}` : '';
    const state = `${version} ${mtimeMs}${asked}`;
    if ((await read())[key] === state) return null;
    const failure = await test(found, isolation, limits, timeoutMs).catch((error: Error) => error.message);
    if (failure !== null) return `${version} failed its self-test: ${failure}`;
    // Programs are tested concurrently, so one may overwrite the record of another; the lost record is written again
    // after the next test.
    const draft = `${file}.${harness}.${process.pid}`;
    await mkdir(folder, { recursive: true });
    await writeFile(draft, JSON.stringify({ ...(await read()), [key]: state }));
    await rename(draft, file);
    return null;
  };
}

async function test(found: Found, isolation: Isolation, limits: Limits, timeoutMs: number): Promise<string | null> {
  const { level, containers } = isolation;
  const isCell = hasEgress(level);
  const account = isCell ? await newAccount() : undefined;
  const [place, model] = await Promise.all([makePlace('', account), startScriptedModel()]);
  const headers = {};
  const upstreams = { anthropic: { base: model.url, headers }, openai: { base: `${model.url}/v1`, headers }, mcp: {} };
  const gateway = await openGateway(upstreams, isCell ? socketsOf(place).gateway : null);
  const isServer = found.harness === 'opencode';
  const container = containers && openContainer(containers, place, account, limits, isServer);
  const ended = new AbortController();
  try {
    const task = {
      ...launchOf(level, place, account, 1_000, isServer, [], container),
      home: place.home,
      gateway: { url: `http://127.0.0.1:${gateway.port || ports.gateway}`, key: gateway.key },
    };
    const late = wait(timeoutMs, `the harness did not end within ${timeoutMs / 1_000} seconds`, {
      signal: ended.signal,
    });
    // If the runner stops during the test, a watchdog ends the process; a container has a watchdog of its own.
    const began = (pid: number) => container || place.guard(pid);
    return await Promise.race([runOnce(found, task, began), late]).then(
      async (failure) => failure ?? (found.harness === 'acp' ? null : whyUndone(path.join(place.work, script.file))),
    );
  } finally {
    ended.abort();
    await gateway.close();
    await place.remove();
    await model.close();
  }
}

/**
 * Runs one turn of the harness. For ACP it only opens a session, because the tools and the model API of the harness are unknown. @returns
 * why it failed
 */
async function runOnce(
  { harness, program, command }: Found,
  task: Omit<Task, keyof typeof plainly | 'program' | 'command' | 'model' | 'prompt'>,
  began: (pid: number) => void,
): Promise<string | null> {
  const events: HarnessEvent[] = [];
  let take: (event: HarnessEvent) => void = () => {};
  const over = new Promise<HarnessEvent>((resolve) => {
    take = (event) => {
      events.push(event);
      if ('turn' in event) resolve(event);
    };
  });
  const prompt = `Run the command: ${script.command}`;
  const started = drivers[harness]({ ...plainly, ...task, program, command, model: models[harness], prompt }, (event) =>
    take(event),
  );
  began(started.pid);
  try {
    if (harness === 'acp') return await started.ready.then(() => null);
    const event = await Promise.race([over, started.ready.then(() => over)]);
    if (!('turn' in event)) return null;
    if (event.turn.status !== 'completed') return event.turn.error ?? event.turn.status;
    if (event.turn.text.trim() !== script.answer)
      return `its answer was not understood: ${event.turn.text.slice(0, 200)}`;
    if (!events.some((one) => 'session' in one)) return 'the harness named no session';
    return events.some((one) => 'usage' in one && one.usage.inputTokens > 0) ? null : 'the harness reported no tokens';
  } finally {
    await started.end();
  }
}

const plainly = {
  instructions: null,
  effort: null,
  schema: null,
  resume: null,
  readOnly: false,
  maxCalls: null,
  maxTokens: null,
  mcp: {},
};

const whyUndone = (file: string): Promise<string | null> =>
  stat(file).then(
    () => null,
    () => 'the harness did not run the command that the model requested',
  );
