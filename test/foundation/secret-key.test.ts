// The generated key of the service: created once, also by concurrent callers, and never replaced.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOrMakeSecretKey, secretKeyFile } from '#foundation/secrets/secret-key.ts';
import { readConfig } from '../../src/config.ts';

const key = Buffer.alloc(32, 7);

describe('The generated service key', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'aep-key-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  let count = 0;
  const fresh = () => path.join(folder, `data-${++count}`, 'inner');

  it('the generated service key is created once, readable by its owner only, and read back afterwards', async () => {
    const dataDir = fresh();
    const made = await readOrMakeSecretKey(dataDir);
    expect(made.length).toBe(32);
    expect((await stat(secretKeyFile(dataDir))).mode & 0o777).toBe(0o600);
    expect(await readOrMakeSecretKey(dataDir)).toEqual(made);
    expect(await readOrMakeSecretKey(fresh())).not.toEqual(made);
    expect(await readdir(dataDir)).toEqual(['secret-key']);
  });

  it('the generated service key is the same for fifty concurrent callers', async () => {
    const dataDir = fresh();
    const keys = await Promise.all(Array.from({ length: 50 }, () => readOrMakeSecretKey(dataDir)));
    expect(new Set(keys.map((one) => one.toString('hex'))).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['secret-key']);
  });

  it('the generated service key can be given as SECRET_KEY, in the format of its file', async () => {
    const dataDir = fresh();
    const made = await readOrMakeSecretKey(dataDir);
    expect(readConfig({ SECRET_KEY: await readFile(secretKeyFile(dataDir), 'utf8') }).secretKey).toEqual(made);
  });

  it.each(['', 'short', `${key.toString('base64')}x`])(
    'the generated service key is not replaced when its file holds %j',
    async (text) => {
      const dataDir = fresh();
      await readOrMakeSecretKey(dataDir);
      await writeFile(secretKeyFile(dataDir), text);
      await expect(readOrMakeSecretKey(dataDir)).rejects.toThrow('does not contain a service key');
      expect(await readFile(secretKeyFile(dataDir), 'utf8')).toBe(text);
    },
  );
});
