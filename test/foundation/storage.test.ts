// The storage in a folder: contents are there whole or not at all, and nothing leaves the folder.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folderStorage, type Storage } from '#foundation/storage.ts';

let home: string;
let storage: Storage;

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'aep-storage-'));
  storage = folderStorage(path.join(home, 'not', 'yet'));
});
afterAll(() => rmSync(home, { recursive: true }));

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}
async function* broken() {
  yield Buffer.from('half');
  throw new Error('the line went dead');
}
async function textOf(content: Readable | null): Promise<string | null> {
  if (!content) return null;
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
const files = () =>
  readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(path.join(home, name)).isFile());

test('a content comes back as it went in, whole or a range of it, for its owner’s eyes alone', async () => {
  expect(await storage.write('cnt_1', chunks('Hello', ', ', 'world'), 100)).toBe(12);
  expect(await textOf(await storage.read('cnt_1'))).toBe('Hello, world');
  expect(await textOf(await storage.read('cnt_1', { first: 7, last: 8 }))).toBe('wo');
  const [file] = files();
  expect(file).toBe(path.join('not', 'yet', '_1', 'cnt_1'));
  expect(statSync(path.join(home, file!)).mode & 0o777).toBe(0o600);
});

test('nothing at all is a content too', async () => {
  expect(await storage.write('cnt_2', chunks(), 0)).toBe(0);
  expect(await textOf(await storage.read('cnt_2'))).toBe('');
});

test('what breaks off or is too large leaves nothing behind; as large as may be is taken', async () => {
  const before = files();
  await expect(storage.write('cnt_3', broken(), 100)).rejects.toThrow('the line went dead');
  await expect(storage.write('cnt_3', chunks('12', '345'), 4)).rejects.toMatchObject({ status: 413 });
  expect(await storage.read('cnt_3')).toBe(null);
  expect(files()).toEqual(before);
  expect(await storage.write('cnt_3', chunks('12', '34'), 4)).toBe(4);
});

test('a content is not seen before all of it is there', async () => {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* slowly() {
    yield Buffer.from('one');
    await gate;
    yield Buffer.from('two');
  }
  const writing = storage.write('cnt_4', slowly(), 100);
  expect(await storage.read('cnt_4')).toBe(null);
  goOn();
  await writing;
  expect(await textOf(await storage.read('cnt_4'))).toBe('onetwo');
});

test('removing is for good, with what an interrupted write left, and twice is no fault', async () => {
  await storage.write('cnt_5', chunks('x'), 100);
  await storage.remove('cnt_5');
  await storage.remove('cnt_5');
  expect(await storage.read('cnt_5')).toBe(null);
});

test.each(['', 'ab', '../secret', 'a/../../b', 'a\0b', 'x'.repeat(201)])('%j is no key', async (key) => {
  await expect(storage.read(key)).rejects.toThrow('is no key');
  await expect(storage.write(key, chunks('x'), 1)).rejects.toThrow('is no key');
  await expect(storage.remove(key)).rejects.toThrow('is no key');
});
