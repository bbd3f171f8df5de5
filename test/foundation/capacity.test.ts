// A capacity shared by callers: shares per key, the queue and its order.
import { describe, expect, it } from 'vitest';
import { createCapacity, type Hold } from '#foundation/http/capacity.ts';

const description = 'Too many.';
const queue = { perKey: 2, all: 3, waitMs: 60_000 };
const refused = { status: 503, headers: { 'retry-after': '2' }, body: { code: 'too_busy', retryable: true } };

/** Requests capacity, and records in `granted` when it is granted. */
function taking(capacity: ReturnType<typeof createCapacity>) {
  const granted: string[] = [];
  const take = (key: string, amount?: number): Promise<Hold> =>
    capacity.take(key, amount).then((hold) => {
      granted.push(key);
      return hold;
    });
  return { granted, take };
}

describe('createCapacity', () => {
  it('a capacity refuses a key that has used its share, and still serves another', async () => {
    const capacity = createCapacity({ all: 4, perKey: 2, description });
    const [first] = [await capacity.take('a'), await capacity.take('a')];
    await expect(capacity.take('a')).rejects.toMatchObject(refused);
    await capacity.take('b', 2);
    await expect(capacity.take('c')).rejects.toMatchObject(refused);
    first.release();
    first.release();
    await capacity.take('c');
    await expect(capacity.take('c')).rejects.toMatchObject(refused);
  });

  it('a capacity alternates between the keys of waiting callers, even if one key requests a lot', async () => {
    const capacity = createCapacity({ all: 2, perKey: 2, queue, description });
    const { granted, take } = taking(capacity);
    const holds = [await take('a'), await take('a')];
    const waiting = [take('a'), take('a'), take('b')];
    await expect(take('a')).rejects.toMatchObject(refused);
    holds[0]!.release();
    (await waiting[0]!).release();
    await waiting[2];
    expect(granted).toEqual(['a', 'a', 'a', 'b']);
    holds[1]!.release();
    await waiting[1];
    expect(granted).toEqual(['a', 'a', 'a', 'b', 'a']);
  });

  it('a capacity refuses a caller that has waited too long, and no longer counts it', async () => {
    const capacity = createCapacity({ all: 1, perKey: 1, queue: { ...queue, waitMs: 1 }, description });
    const hold = await capacity.take('a');
    await expect(capacity.take('b')).rejects.toMatchObject(refused);
    hold.release();
    await capacity.take('a');
  });

  it('a capacity admits urgent callers before other callers of the same key, and keeps a separate queue for urgent callers', async () => {
    const lengths = { ...queue, perKey: 1, urgent: { perKey: 2, all: 2 } };
    const capacity = createCapacity({ all: 1, perKey: 1, queue: lengths, description });
    const admitted: string[] = [];
    const take = async (name: string, isUrgent: boolean) => {
      const hold = await capacity.take('a', 1, { isUrgent });
      admitted.push(name);
      hold.release();
    };
    const hold = await capacity.take('a');
    const waiting = [take('one', false), take('urgent one', true), take('urgent two', true)];
    await expect(take('another', false)).rejects.toMatchObject(refused);
    await expect(take('urgent three', true)).rejects.toMatchObject(refused);
    hold.release();
    await Promise.all(waiting);
    expect(admitted).toEqual(['urgent one', 'urgent two', 'one']);
  });

  it('a capacity admits one of the other callers after three urgent ones, so that heartbeats never block reports', async () => {
    const capacity = createCapacity({ all: 1, perKey: 1, queue: { perKey: 9, all: 9, waitMs: 1_000 }, description });
    const admitted: string[] = [];
    const take = async (name: string) => {
      const hold = await capacity.take('a', 1, { isUrgent: name === 'urgent' });
      admitted.push(name);
      hold.release();
    };
    const hold = await capacity.take('a');
    const waiting = ['other', 'other', ...Array<string>(8).fill('urgent')].map(take);
    hold.release();
    await Promise.all(waiting);
    const three = ['urgent', 'urgent', 'urgent'];
    expect(admitted).toEqual([...three, 'other', ...three, 'other', 'urgent', 'urgent']);
  });

  it('a capacity alternates between keys and admits urgent callers first, but skips a key that has used its share and callers that gave up', async () => {
    const capacity = createCapacity({ all: 3, perKey: 2, queue: { perKey: 20, all: 60, waitMs: 60_000 }, description });
    const holds = [await capacity.take('full', 2), await capacity.take('z')];
    const [admitted, waiting] = [[] as string[], [] as Promise<void>[]];
    const given = new AbortController();
    const wait = (name: string, signal?: AbortSignal) =>
      waiting.push(
        capacity.take(name.split(' ')[0]!, 1, { isUrgent: name.includes('urgent'), signal }).then((hold) => {
          admitted.push(name);
          hold.release();
        }),
      );
    for (const name of ['full 1', 'a 1', 'b 1', 'a 2', 'b urgent 1', 'c 1', 'a 3', 'c 2']) wait(name);
    wait('a urgent', given.signal);
    for (const name of ['b urgent 2', 'b urgent 3', 'b urgent 4', 'a 4']) wait(name);
    given.abort();
    await expect(waiting[8]).rejects.toThrow();
    holds[1]!.release();
    await Promise.all(waiting.slice(1, 8));
    holds[0]!.release();
    await Promise.all(waiting.toSpliced(8, 1));
    const turns = [
      'a 1',
      'b urgent 1',
      'c 1',
      'a 2',
      'b urgent 2',
      'c 2',
      'a 3',
      'b urgent 3',
      'a 4',
      'b 1',
      'b urgent 4',
    ];
    expect(admitted).toEqual([...turns, 'full 1']);
  });

  it('a capacity reserves at most the share of a key, however much the caller requests, and admits waiting callers when a reserved amount shrinks', async () => {
    const capacity = createCapacity({ all: 10, perKey: 6, queue, description });
    const hold = await capacity.take('a', 100);
    const { granted, take } = taking(capacity);
    const other = take('b', 5);
    expect(granted).toEqual([]);
    hold.resize(5);
    await other;
    hold.resize(100);
    hold.release();
    await take('a', 5);
  });
});
