// When the journal of a mission sends the lines that the mission logs.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openJournal } from '../../src/runner/protocol/journal.ts';

let sent: string[];
let respond: () => void;
let isSlow: boolean;
let journal: ReturnType<typeof openJournal>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  [sent, isSlow] = [[], false];
  const platform = {
    mask: (text: string) => text,
    mutate: (_: unknown, { content }: { content: string }) => {
      sent.push(content);
      return new Promise<void>((resolve) => {
        respond = resolve;
        if (!isSlow) resolve();
      });
    },
  };
  const session = { sandboxId: 'sbx_1', leaseId: 'lease', role: 'builder', sessionId: 'one', stepId: 'stp_1' };
  journal = openJournal(platform as never, {} as never, session as never, 250);
});
afterEach(() => {
  journal.stop();
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

it('a line after a pause is sent at once, and the lines of the next 50 ms are sent together', async () => {
  journal.log('one\n');
  await pass(0);
  expect(sent).toEqual(['one\n']);
  journal.log('two\n');
  await pass(30);
  journal.log('three\n');
  await pass(19);
  expect(sent).toEqual(['one\n']);
  await pass(1);
  expect(sent).toEqual(['one\n', 'two\nthree\n']);
});

it('an unfinished line waits 250 ms for its end, and is sent with it', async () => {
  journal.log('pass');
  await pass(249);
  expect(sent).toEqual([]);
  journal.log('word\n');
  await pass(0);
  expect(sent).toEqual(['password\n']);
  journal.log('alone');
  await pass(250);
  expect(sent).toEqual(['password\n', 'alone']);
});

it('an unfinished line waits for its end even when something else is sent in the meantime', async () => {
  const fragment = { kind: 'thought', body: 'Hm.', items: [] } as never;
  journal.log('one\npass');
  journal.show(fragment);
  await pass(100);
  expect(sent).toEqual(['one\n', undefined]);
  journal.log('word\n');
  await pass(50);
  expect(sent.slice(2)).toEqual(['password\n']);
  journal.log('alone');
  await journal.close();
  expect(sent.slice(3)).toEqual(['alone']);
});

it('lines that are printed while a request to the platform is unanswered are sent together in the next request', async () => {
  isSlow = true;
  journal.log('one\n');
  await pass(0);
  for (let n = 0; n < 20; n++) {
    journal.log(`${n}\n`);
    await pass(100);
  }
  expect(sent).toEqual(['one\n']);
  respond();
  await pass(0);
  expect(sent).toHaveLength(2);
});

it('continuous output is sent four times a second on average', async () => {
  for (let n = 0; n < 1_200; n++) {
    journal.log('line\n');
    await pass(50);
  }
  expect(sent.length).toBeGreaterThan(240);
  expect(sent.length).toBeLessThanOrEqual(60 * 4 + 41);
});
