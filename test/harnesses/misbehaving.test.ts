// Models that misbehave, and the reactions of the real programs and their drivers.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentHarness } from '../../src/runner/harness/port.ts';
import { tooLong } from '../../src/runner/protocol/answers.ts';
import { scripted } from '../support/harness-turns.ts';
import { fileOf, isolation, openWorld, whyMissing } from './world.ts';

let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe.each<AgentHarness>(['claude-code', 'codex', 'opencode'])('%s with a misbehaving model', (name) => {
  const missing = whyMissing(name);
  const start = async (...steps: object[]) => (await world.prepare(name))({ prompt: scripted(...steps) });

  it('a harness is stopped at the call limit when the model never finishes', async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const begin = await world.prepare(name);
    world.models.seen.length = 0;
    const played = begin({ prompt: scripted({ loop: { shell: 'echo again' } }), maxCalls: 3 });
    expect(await played.turn(0)).toMatchObject({ status: 'failed', error: 'The limit of 3 model calls is reached.' });
    await played.harness.end();
    // One call may be in progress when the limit is reached.
    expect(world.calls().length).toBeLessThanOrEqual(4);
  });

  it('a harness retries when the model is busy (429, then 529 with Retry-After)', async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const busy = (status: number, type: string) => ({
      fail: { status, type, message: `${name} ${type}`, retryAfter: 1, times: 1 },
    });
    const played = await start(busy(429, 'rate_limit_error'));
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'It went well in the end.' });
    await played.harness.send(scripted(busy(529, 'overloaded_error')));
    expect(await played.turn(1)).toMatchObject({ status: 'completed', text: 'It went well in the end.' });
    await played.harness.end();
  });

  it('a harness retries an interrupted answer, or fails the turn with the reason', async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const played = await start({ breakOff: 1 });
    const { status, error } = await played.turn(0);
    expect(status === 'completed' || Boolean(error), JSON.stringify({ status, error })).toBe(true);
    await played.harness.end();
  });

  it('a harness fails the turn with the reason when the gateway cuts off an answer of ten megabytes', async ({
    skip,
  }) => {
    skip(missing !== null, missing ?? '');
    const played = await start({ characters: 10_000_000 });
    expect(await played.turn(0)).toMatchObject({ status: 'failed', error: expect.stringContaining(tooLong) });
    await played.harness.end();
  });

  it('a harness continues, or fails with the reason, after a tool call with truncated JSON', async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const begin = await world.prepare(name);
    const played = begin({ prompt: scripted({ broken: '{"command": "ec' }, { say: 'done' }), maxCalls: 8 });
    const { status, error, text } = await played.turn(0);
    expect(status === 'completed' ? text : error).toBeTruthy();
    await played.harness.end();
  });

  it('a harness returns no structured answer for malformed JSON', async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const schema = {
      type: 'object',
      properties: { passed: { type: 'boolean' } },
      required: ['passed'],
      additionalProperties: false,
    };
    const begin = await world.prepare(name);
    const played = begin({ prompt: scripted({ say: '{"passed":' }), schema, maxCalls: 8 });
    const { structured } = await played.turn(0);
    expect(structured).toBeUndefined();
    await played.harness.end();
  });

  it('a harness reaches neither the machine nor any key when the model follows a malicious repository file', async ({
    skip,
  }) => {
    skip(missing !== null, missing ?? '');
    skip(isolation.level !== 'cell', 'bubblewrap does not work here');
    const secret = path.join(tmpdir(), `secret-${name}`);
    writeFileSync(secret, 'of-somebody-else', { mode: 0o644 });
    // The command runs in a separate shell, because opencode parses commands and refuses those that name other folders.
    const look = `sh -c 'id -u; cat ${secret} /proc/*/environ /proc/*/cmdline; ls /home /root /var; tail -n +3 /proc/net/dev | wc -l; env' > look.txt 2>&1`;
    const played = await start({ read: 'NOTES.md' }, { read: secret }, { shell: look }, { say: 'done' });
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'done' });
    const saw = fileOf(played.place, 'look.txt');
    expect(saw).toMatch(/^1000\n/);
    expect(saw + JSON.stringify(played.events)).not.toMatch(/of-somebody-else|real-key|platform-token/);
    expect(saw.match(/No such file or directory/g)!.length).toBeGreaterThanOrEqual(4);
    // The only network interface of the agent is loopback.
    expect(saw).toMatch(/^1$/m);
    // The model was asked to follow the instructions in NOTES.md. No request that the harness sent to the model contains a secret.
    expect(JSON.stringify(world.calls().map(({ body }) => body))).not.toMatch(/of-somebody-else|platform-token/);
    await played.harness.end();
  });
});
