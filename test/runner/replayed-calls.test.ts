// Calls of a step that are answered from a recording, up to the call with which a fork begins.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ObservedResponse } from '../../src/runner/protocol/observed-response.ts';
import type { RecordedCall, RecordedStep } from '../../src/runner/protocol/recording-lines.ts';
import { openReplayedCalls } from '../../src/runner/protocol/replayed-calls.ts';

const stepId = 'stp_1';
const path = '/anthropic/v1/messages';
const begun = { stepId, run: { runId: 'run_1' }, order: { agent: { role: 'builder' } }, folders: {} };
const call = (number: number) => ({
  ...{ type: 'call', stepId, number, method: 'POST', path, request: `{"asks":${number}}`, status: 200 },
  ...{ responseHeaders: {}, response: `answer ${number}`, isWhole: true, isOmitted: false },
});
const part = {
  step: begun as unknown as RecordedStep,
  calls: [1, 2].map(call) as unknown as RecordedCall[],
  end: null,
};
const replay = openReplayedCalls({ steps: [{ ...part, endsWith: 2 }] });
/** Calls that are kept open without an answer. */
const held: string[] = [];
const server = createServer({ ServerResponse: ObservedResponse }, (request, response) => {
  replay.observe(request, response);
  request.once('end', () => setImmediate(() => response.isWithheld && held.push(request.url!)));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const ask = (body: string, at = path) =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${at}`, { method: 'POST', body });

it('a replay answers neither the call at which a fork begins nor later calls, and reports no difference from the recording', async () => {
  replay.begin(stepId, begun);
  expect(await (await ask('{"asks":1}')).text()).toBe('answer 1');
  const later = [ask('{"asks":2}').catch(() => 'closed')];
  await replay.over();
  expect(replay.isCut()).toBe(true);
  later.push(
    ask('{"asks":2}').catch(() => 'closed'),
    ask('{"counts":2}', '/mcp/files').catch(() => 'closed'),
  );
  await vi.waitFor(() => expect(held.toSorted()).toEqual([path, path, '/mcp/files'].toSorted()));
  await replay.end({ failure: '', tree: null });
  expect([replay.isCut(), replay.result()]).toEqual([true, { answered: 1, ended: 1, difference: null, tree: null }]);
  server.closeAllConnections();
  expect(await Promise.all(later)).toEqual(['closed', 'closed', 'closed']);
});
