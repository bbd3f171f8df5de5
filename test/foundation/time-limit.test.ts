// A time limit that is combined with another signal holds after garbage collection too.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { withTimeLimit } from '#foundation/time-limit.ts';

const root = path.join(import.meta.dirname, '../..');

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

it('a time limit ends work after garbage collection, and so does the other signal', async () => {
  const other = new AbortController();
  const endings: string[] = [];
  const work = (name: string, ms: number) =>
    withTimeLimit(other.signal, ms).addEventListener('abort', () => void endings.push(name));
  work('limited', 20);
  work('aborted', 600_000);
  await wait(0);
  collectGarbage();
  await expect.poll(() => endings).toEqual(['limited']);
  other.abort();
  expect(endings).toEqual(['limited', 'aborted']);
});

it('no source file passes AbortSignal.timeout() directly to AbortSignal.any(), because Node 20 would collect the signal before it aborts', () => {
  const sources = ['src', 'clients'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join(root, folder, name),
    ),
  );
  const read = sources.filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'));
  expect(read.length).toBeGreaterThan(1_000);
  const losing = read.filter((name) =>
    /AbortSignal\.any\([^)]*AbortSignal\.timeout\(/.test(readFileSync(name, 'utf8')),
  );
  expect(losing).toEqual([]);
});
