// The drivers of src/runner/harness, tested with recorded events of the real programs. test/harnesses/record.ts runs the programs with stand-in
// models to record these events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { claudeEvents } from '../../src/runner/harness/claude-code-events.ts';
import { codexEvents } from '../../src/runner/harness/codex-events.ts';
import { limited } from '../../src/runner/harness/limits.ts';
import { opencodeEvents } from '../../src/runner/harness/opencode-events.ts';
import type { AgentHarness, Harness, HarnessEvent, Task } from '../../src/runner/harness/port.ts';
import { scenes } from '../support/harness-scenes.ts';
import { begin, type Given } from '../support/harness-turns.ts';

const replay = fileURLToPath(new URL('../support/replay-harness.mjs', import.meta.url));
const fixtures = fileURLToPath(new URL('../fixtures/harnesses', import.meta.url));
const home = mkdtempSync(path.join(tmpdir(), 'replay-'));
afterAll(() => rmSync(home, { recursive: true }));

const harnesses: AgentHarness[] = ['claude-code', 'codex', 'opencode'];
const interrupted = 'The turn is interrupted.';
const usageOf = (name: AgentHarness) => ({
  // OpenAI includes cached tokens in the input of 1,200.
  inputTokens: name === 'codex' ? 1_000 : 1_200,
  cachedInputTokens: 200,
  cacheWriteTokens: 0,
  outputTokens: 50,
});

/** Plays a recorded scene. */
async function play(name: AgentHarness, scene: keyof typeof scenes, more: Partial<Given> = {}) {
  const file = path.join(fixtures, `${name}-${scene}.jsonl`);
  const wrap = (): [string, string[]] => [process.execPath, [replay, file]];
  const gateway = { url: 'http://gateway', key: 'none' };
  const { task, play } = scenes[scene];
  const played = begin(name, { program: name, cwd: home, home, gateway, wrap, ...task, ...more });
  await play(played);
  await played.harness.end();
  return played;
}

describe.each(harnesses)('the harness %s', (name) => {
  it('a harness reports thoughts, plan, actions and answer; each call of its model is reported once, with its tokens', async () => {
    const played = await play(name, 'worked');
    const fragments = played.fragments().filter(({ result }) => result === undefined);
    const order = { thought: 0, action: 1, plan: 2, response: 4 };
    expect(fragments.map(({ kind }) => kind)).toEqual(['thought', 'action', 'plan', 'action', 'response']);
    expect(fragments[order.thought]).toEqual({ kind: 'thought', body: 'I look first.' });
    expect(fragments[order.action]!.parameter).toContain('echo from-the-shell');
    expect(fragments[order.plan]!.items).toEqual([{ content: 'Edit', status: 'in_progress' }]);
    expect(fragments[order.response]).toEqual({ kind: 'response', body: 'All done.' });
    const { toolUseId, action } = fragments[order.action]!;
    expect(played.fragments().filter((one) => one.toolUseId === toolUseId)[1]).toEqual({
      ...{ kind: 'action', action, toolUseId, result: 'from-the-shell', failed: false },
      ...(name !== 'claude-code' && { exitCode: 0 }),
    });
    expect(await played.turn(0)).toEqual({
      status: 'completed',
      text: 'All done.',
      structured: undefined,
      error: null,
    });
    expect(played.usages()).toMatchObject(Array.from({ length: 4 }, () => usageOf(name)));
    expect(new Set(played.usages().map(({ usageId }) => usageId)).size).toBe(4);
    expect(played.logs()).toContain('from-the-shell\n');
    expect(played.session()).toBeTruthy();
  });

  it('a harness fails with the vendor’s error message', async () => {
    const played = await play(name, 'refused');
    const turn = await played.turn(0);
    expect(turn).toMatchObject({ status: 'failed', error: expect.stringContaining('no such thing') });
    expect(played.fragments()).toMatchObject([{ kind: 'error', body: expect.stringContaining('no such thing') }]);
    expect(played.usages()).toEqual([]);
  });

  it('a harness answers in the requested JSON shape', async () => {
    const played = await play(name, 'structured');
    expect(await played.turn(0)).toMatchObject({ status: 'completed', structured: { verdict: 'approve' } });
  });

  it('a harness accepts a message while it works, is interrupted once, and continues', async () => {
    const played = await play(name, 'steered');
    const turns = played.events.flatMap((event) => ('turn' in event ? [event.turn] : []));
    expect(turns.map(({ status, text, error }) => [status, text, error])).toEqual([
      ['completed', 'steered', null],
      ['interrupted', '', interrupted],
      ['completed', 'went on', null],
    ]);
    // OpenCode does not report the tokens of a call whose tool was interrupted.
    expect(played.usages()).toHaveLength(name === 'opencode' ? 4 : 5);
  });

  it('a harness is resumed, and counts only the calls after it was resumed', async () => {
    const session = (await play(name, 'steered')).session();
    const played = await play(name, 'resumed', { resume: session });
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'resumed' });
    expect(played.session()).toBe(session);
    expect(played.usages()).toMatchObject([usageOf(name)]);
  });

  it('a harness fails when its program ends, or cannot be started', async () => {
    const gateway = { url: 'http://gateway', key: 'none' };
    for (const [wrap, error] of [
      [['sh', ['-c', 'echo "out of order" >&2; exit 3']], 'out of order'],
      [['sh', ['-c', 'kill -KILL $$']], 'killed by SIGKILL'],
    ] as [[string, string[]], string][]) {
      const played = begin(name, { program: name, cwd: home, home, gateway, wrap: () => wrap, prompt: 'work' });
      expect(await played.turn(0)).toMatchObject({ status: 'failed', error });
      await played.harness.end();
    }
  });
});

/** The harness events that result from recorded events. */
async function told(run: (on: (event: HarnessEvent) => void) => Promise<void>): Promise<HarnessEvent[]> {
  const events: HarnessEvent[] = [];
  await run((event) => void events.push(event));
  return events;
}

describe('the events of claude-code', () => {
  const result = { type: 'result', subtype: 'success', is_error: false, result: 'Done', usage: {} };
  const take = (...all: object[]) =>
    told(async (on) => {
      const events = claudeEvents('claude-sonnet-4-5', on);
      events.sent();
      for (const event of all) await events.take(event);
    });
  const replayed = { type: 'user', isReplay: true, message: { content: [] } };

  it('a result with is_error counts as failed, whatever its subtype', async () => {
    const events = await take(replayed, { ...result, is_error: true, result: 'Refused' });
    expect(events.at(-1)).toEqual({
      turn: { status: 'failed', text: 'Refused', structured: undefined, error: 'Refused' },
    });
  });

  it('denied tools of claude-code are reported', async () => {
    const events = await take(replayed, { ...result, permission_denials: [{ tool_name: 'WebFetch' }] });
    expect(events[0]).toEqual({ fragment: { kind: 'error', body: 'Not allowed: WebFetch' } });
  });

  it('a call that was not streamed or was interrupted is counted', async () => {
    const start = {
      type: 'message_start',
      message: { id: 'msg_1', model: 'm', usage: { input_tokens: 10, output_tokens: 1 } },
    };
    const usage = { input_tokens: 30, output_tokens: 7 };
    const events = await take(replayed, { type: 'stream_event', event: start }, { ...result, uuid: 'r', usage });
    expect(events.slice(0, 2)).toMatchObject([
      { usage: { usageId: 'msg_1', model: 'm', inputTokens: 10, outputTokens: 1 } },
      { usage: { usageId: 'r', model: 'claude-sonnet-4-5', inputTokens: 20, outputTokens: 6 } },
    ]);
  });

  it('a message after the last call continues the turn', async () => {
    const turns = (events: HarnessEvent[]) => events.filter((event) => 'turn' in event);
    expect(turns(await take(result))).toEqual([]);
    expect(turns(await take(result, replayed, { ...result, result: 'Both' }))).toMatchObject([
      { turn: { text: 'Both' } },
    ]);
  });

  it('a failed tool call has its error and exit code', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'npm test' } };
    const failure = { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true };
    const output = `Exit code 2\n${'x'.repeat(20_000)}\n1 of 16 tests failed`;
    const events = await take(
      { type: 'assistant', message: { content: [use] } },
      { type: 'user', message: { content: [{ ...failure, content: output }] } },
    );
    const call = { kind: 'action', action: 'Bash', toolUseId: 'toolu_1' };
    const fragments = events.flatMap((event) => ('fragment' in event ? [event.fragment] : []));
    expect(fragments).toEqual([
      { ...call, parameter: 'npm test' },
      {
        ...call,
        failed: true,
        exitCode: 2,
        result: expect.stringMatching(/^Exit code 2\n.* characters left out .*1 of 16 tests failed$/s),
      },
    ]);
    expect(fragments[1]!.result!.length).toBeLessThanOrEqual(16_384);
  });

  it('an unknown event is logged as one short line', async () => {
    expect(await take({ type: 'novelty', x: 1 })).toEqual([{ log: '[novelty] x=1\n' }]);
  });
});

describe('the events of codex', () => {
  it('tools of the platform that codex calls are reported as actions, and unknown events are logged', async () => {
    const item = { type: 'mcpToolCall', id: 'call_1', server: 'platform', tool: 'comment', arguments: { text: 'hi' } };
    const command = { type: 'commandExecution', id: 'call_2', status: 'failed', aggregatedOutput: 'no\n', exitCode: 1 };
    const change = { type: 'fileChange', status: 'declined', changes: [{ kind: { type: 'update' }, path: 'a.ts' }] };
    const events = await told(async (on) => {
      const { take } = codexEvents({ model: 'm', schema: null }, on);
      await take('item/started', { item });
      await take('item/completed', { item: { ...item, status: 'failed', error: { message: 'No such issue.' } } });
      await take('item/completed', { item: command });
      await take('item/completed', { item: change });
      await take('novelty', { x: 1, threadId: 't', list: [1] });
    });
    const comment = { kind: 'action', action: 'platform.comment', toolUseId: 'call_1' };
    expect(events).toEqual([
      { fragment: { ...comment, parameter: '{"text":"hi"}' } },
      { fragment: { ...comment, result: 'No such issue.', failed: true } },
      { log: 'no\n' },
      { fragment: { kind: 'action', action: 'shell', toolUseId: 'call_2', result: 'no', failed: true, exitCode: 1 } },
      {
        fragment: {
          kind: 'action',
          action: 'update',
          parameter: 'a.ts',
          result: 'The change was declined.',
          failed: true,
        },
      },
      { log: '[novelty] x=1\n' },
    ]);
  });

  it('an answer that is not the expected JSON has no structured output', async () => {
    const events = await told(async (on) => {
      const { take } = codexEvents({ model: 'm', schema: {} }, on);
      await take('item/completed', { item: { type: 'agentMessage', text: '{"verdict":' } });
      await take('turn/completed', { turn: { status: 'completed' } });
    });
    expect(events.at(-1)).toMatchObject({ turn: { status: 'completed', structured: undefined } });
  });
});

describe('the limits of a turn', () => {
  const tokens = { inputTokens: 1_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

  /** A harness that calls its model until it is interrupted. */
  async function endless(limits: Partial<Task>): Promise<HarnessEvent[]> {
    const events: HarnessEvent[] = [];
    let isOver = false;
    const driver = limited((_, on) => {
      const turn = (status: 'interrupted' | 'completed') => ({ status, text: '', structured: undefined, error: null });
      const work = async () => {
        for (let call = 0; !isOver; call++) await on({ usage: { usageId: String(call), model: 'm', ...tokens } });
        await on({ turn: turn('interrupted') });
      };
      const interrupt = async () => {
        isOver = true;
      };
      return { ready: Promise.resolve().then(work), interrupt } as Harness;
    });
    const task = { maxCalls: null, maxTokens: null, ...limits } as Task;
    await driver(task, (event) => void events.push(event)).ready;
    return events;
  }

  it('a turn is interrupted after the maximum number of calls', async () => {
    const events = await endless({ maxCalls: 3 });
    expect(events.filter((event) => 'usage' in event)).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({
      turn: { status: 'failed', error: 'The limit of 3 model calls is reached.' },
    });
  });

  it('a turn is interrupted after the maximum number of tokens', async () => {
    const events = await endless({ maxTokens: 2_000 });
    expect(events.filter((event) => 'usage' in event)).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      turn: { status: 'failed', error: 'The limit of 2000 tokens is reached.' },
    });
  });
});

describe('a turn of OpenCode that ends without an error', () => {
  const ended = async (isInterrupted: boolean, reason: string) => {
    const events = await told(async (on) => {
      const { begin, take, interrupted } = opencodeEvents('m', on);
      await begin('ses_1');
      await take('session.status', { sessionID: 'ses_1', status: { type: 'busy' } });
      const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
      const part = { type: 'step-finish', id: 'prt_1', sessionID: 'ses_1', reason, tokens };
      await take('message.part.updated', { part });
      if (isInterrupted) interrupted();
      await take('session.idle', { sessionID: 'ses_1' });
    });
    return events.at(-1);
  };

  it('a turn of OpenCode that ends without an error counts as interrupted if the runner interrupted it after the tool calls of a step, and as completed otherwise', async () => {
    expect(await ended(true, 'tool-calls')).toMatchObject({ turn: { status: 'interrupted', error: interrupted } });
    expect(await ended(false, 'tool-calls')).toMatchObject({ turn: { status: 'completed' } });
    expect(await ended(true, 'stop')).toMatchObject({ turn: { status: 'completed' } });
  });
});
