// A runtime reports the parts of a recording. The service refuses a part that is larger than reported, or whose key is no longer the key of
// the organization's recordings.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readSteps } from '#domain/work/recordings/calls.ts';
import { openLines } from '#domain/work/recordings/content.ts';
import { partsOfRun } from '#domain/work/recordings/operations.ts';
import { drained } from '#foundation/http/event-stream.ts';
import { deliveryMs } from '#foundation/http/http.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { encryptPart, recordedLines, writeRecording } from '../support/recorded-run.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let runtime: Runtime;
let held: Held;
let projectId: string;

const set = (isEnabled: boolean) =>
  world.field(`mutation { setRecordingSettings(isEnabled: ${isEnabled}, days: 30) { isEnabled } }`, {
    token: alice.token,
  });

beforeAll(async () => {
  world = await openWorld();
  alice = await createOwner(world, 'Alice', 'Acme');
  runtime = await createRuntime(world, alice.organization);
  projectId = await createProject(world, alice, 'Shop');
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const bob = { name: 'Bob', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  const { id: agentId } = (await world.rest('POST', '/agents', { token: alice.token, body: bob })).body;
  const start =
    'mutation ($p: String!, $a: String) { startMission(projectId: $p, prompt: "Fix it.", agentId: $a) { id } }';
  await world.field(start, { token: alice.token, variables: { p: projectId, a: agentId } });
  const { runId, leaseId } = await runtime.claim();
  held = { runId, leaseId };
  await set(true);
});
afterAll(() => world.close());

const open = (part: string) => runtime.report('openRecordingPart', { ...held, part }, '{ key keyId }');
async function upload(bytes: Buffer<ArrayBuffer>): Promise<string> {
  const { contentKey, uploadUrl } = await runtime.report('createArtifactUpload', held, '{ contentKey uploadUrl }');
  await fetch(uploadUrl, { method: 'PUT', body: bytes });
  return contentKey;
}
const encrypted = (key: string, text: string) => encryptPart(Buffer.from(key, 'base64'), text) as Buffer<ArrayBuffer>;
const report = (part: string, keyId: string, contentKey: string, sizeBytes: number) =>
  runtime.ask('reportRecordingPart', { ...held, part, keyId, contentKey, calls: 1, omitted: 0, sizeBytes });

it('a part of a recording is refused when it is larger than reported; a part whose lines are larger than reported cannot be read', async () => {
  const { key, keyId } = await open('one');
  const most = 100 + 16 * 1024;
  expect(await report('one', keyId, await upload(Buffer.alloc(most + 1)), 100)).toMatchObject({
    code: 'invalid_request',
    description: `contentKey: the content is larger than the ${most} bytes to which 100 bytes of lines can be compressed.`,
  });
  const lines = 'x'.repeat(100);
  expect(await report('one', keyId, await upload(encrypted(key, lines)), 100)).toEqual({ ok: true });
  const [part] = await partsOfRun(held.runId);
  const read = async (sizeBytes: number, hasLeft = false) => {
    let text = '';
    for await (const piece of await openLines([{ ...part!, sizeBytes }], () => hasLeft)) text += piece;
    return text;
  };
  expect(await read(part!.sizeBytes)).toBe(lines);
  for (const sizeBytes of [99, 0]) await expect(read(sizeBytes)).rejects.toThrow('Part 1 of the recording was altered');
  expect(await read(0, true)).toBe('');
});

it('a part is refused when recordings were switched off and on again after it was opened', async () => {
  const { key, keyId } = await open('two');
  const contentKey = await upload(encrypted(key, '{}'));
  await set(false);
  await set(true);
  expect(await report('two', keyId, contentKey, 2)).toMatchObject({
    code: 'conflict',
    description: 'keyId: the recordings with this key were deleted since the part was opened.',
  });
  expect(await partsOfRun(held.runId)).toEqual([]);
  const again = await open('two');
  expect(await report('two', again.keyId, await upload(encrypted(again.key, '{}')), 2)).toEqual({ ok: true });
});

it('listing the calls of a recording lets other requests proceed in between', async () => {
  const lines = recordedLines('stp_1', 40).map((line) => ({ ...line, response: 'x'.repeat(100_000) }));
  const of = { orgId: alice.organization.id, projectId, runId: held.runId } as Parameters<typeof writeRecording>[0];
  await writeRecording(of, lines);
  const parse = vi.spyOn(JSON, 'parse');
  const parsed = [0];
  let turn = setImmediate(function count() {
    parsed.push(parse.mock.calls.length);
    turn = setImmediate(count);
  });
  try {
    expect((await readSteps(held.runId))[0]!.calls).toHaveLength(40);
    parsed.push(parse.mock.calls.length);
  } finally {
    clearImmediate(turn);
    parse.mockRestore();
  }
  expect(Math.max(...parsed.slice(1).map((count, i) => count - parsed[i]!))).toBeLessThan(20);
});

it('a reader that reads nothing of a recording is disconnected, and leaves no listener behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const res = Object.assign(new EventEmitter(), { destroy: vi.fn(() => void res.emit('close')) });
    const wait = () => drained(res as unknown as ServerResponse);
    const read = wait();
    res.emit('drain');
    await read;
    expect([res.destroy.mock.calls.length, vi.getTimerCount(), res.listenerCount('close')]).toEqual([0, 0, 0]);
    const stuck = wait();
    vi.advanceTimersByTime(deliveryMs);
    await stuck;
    expect([res.destroy.mock.calls.length, res.listenerCount('drain')]).toEqual([1, 0]);
  } finally {
    vi.useRealTimers();
  }
});
