// Proofs of the audit log through the API, and the verification of a copy by `aep`, without the service.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leafHash } from '#foundation/merkle/tree.ts';
import { openAep } from '../support/aep.ts';
import { createMember, createProject } from '../support/callers.ts';
import { openSignedLog, type SignedLog, sizes } from '../support/signed-log.ts';
import type { Ask, Session } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
let log: SignedLog;
beforeAll(async () => {
  log = await openSignedLog();
});
afterAll(() => log.world.close());

const sha = (...parts: (Buffer | string)[]) => {
  const all = createHash('sha256');
  for (const part of parts) all.update(part);
  return all.digest();
};

describe('proofs of the audit log', () => {
  let session: Session;
  beforeAll(async () => {
    session = await log.world.session(log.alice, log.acme.id);
  });
  const get = (address: string, ask: Ask = { session }) => log.world.rest('GET', address, ask);
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const node = (left: Buffer, right: Buffer) => sha('\u0001', left, right);

  /** The root that an inclusion proof leads to, by the algorithm of RFC 9162 section 2.1.3.2. */
  function rootOf({ number, size, leafHash, hashes }: Body): string {
    let [fn, sn, root] = [number - 1, size - 1, bytes(leafHash)];
    for (const hash of (hashes as string[]).map(bytes)) {
      if (sn === 0) throw new Error('the proof is too long');
      if (fn % 2 === 1 || fn === sn) {
        root = node(hash, root);
        while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
      } else root = node(root, hash);
      [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    }
    expect(sn).toBe(0);
    return root.toString('base64');
  }

  /** The roots of both trees that a consistency proof leads to, by the algorithm of RFC 9162 section 2.1.4.2. */
  function rootsOf({ first, second, firstRootHash, hashes }: Body): string[] {
    const path = (hashes as string[]).map(bytes);
    if (Number.isInteger(Math.log2(first))) path.unshift(bytes(firstRootHash));
    let [fn, sn] = [first - 1, second - 1];
    while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    let [fr, sr] = [path[0]!, path[0]!];
    for (const hash of path.slice(1)) {
      if (fn % 2 === 1 || fn === sn) {
        [fr, sr] = [node(hash, fr), node(hash, sr)];
        while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
      } else sr = node(sr, hash);
      [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    }
    return [fr.toString('base64'), sr.toString('base64')];
  }

  it('the proof of an audit event leads from its bytes to the root of a checkpoint', async () => {
    const { data } = (await get('/audit-checkpoints?limit=3')).body;
    expect(data.map(({ size }: { size: number }) => size)).toEqual([...sizes].reverse());
    expect(data[0]).toMatchObject({
      algorithm: 'ed25519',
      note: log.notes[2],
      verifierKey: expect.stringMatching(/\+A/),
    });
    for (const number of [1, 256, 257, 300]) {
      const { body } = await get(`/audit-events/${number}/proof?size=300`);
      expect(JSON.parse(body.entry)).toMatchObject({ orgId: log.acme.id, number });
      expect(sha('\u0000', body.entry).toString('base64')).toBe(body.leafHash);
      expect([rootOf(body), body.rootHash]).toEqual([data[2].rootHash, data[2].rootHash]);
    }
    // Without a size the tree has all entries, including the entry that was committed just now.
    await log.act(1);
    const { body } = await get('/audit-events/521/proof');
    expect([body.number, body.size, rootOf(body)]).toEqual([521, body.size, body.rootHash]);
  });

  it('a consistency proof of the audit log leads from the root of a checkpoint to the root of a later one', async () => {
    const { data } = (await get('/audit-checkpoints')).body;
    for (const [first, second] of [
      [300, 520],
      [256, 300],
      [520, 520],
    ]) {
      const { body } = await get(`/audit-checkpoints/consistency?first=${first}&second=${second}`);
      if (first !== second) expect(rootsOf(body)).toEqual([body.firstRootHash, body.secondRootHash]);
      else expect(body.hashes).toEqual([]);
      const checkpoint = data.find(({ size }: { size: number }) => size === second);
      expect(body.secondRootHash).toBe(checkpoint.rootHash);
    }
  });

  it.each([
    ['/audit-events/0/proof', 404],
    ['/audit-events/9999/proof', 404],
    ['/audit-events/x/proof', 400],
    ['/audit-events/7/proof?size=6', 400],
    ['/audit-events/7/proof?size=9999', 400],
    ['/audit-checkpoints/consistency?first=5&second=4', 400],
    ['/audit-checkpoints/consistency?first=5&second=9999', 400],
    ['/audit-checkpoints/consistency?first=5', 400],
  ])('the request for the proof %s is refused with %i', async (address, status) => {
    expect((await get(address)).status).toBe(status);
  });

  it('403 · audit proofs and checkpoints are refused to project-bound tokens and to viewers', async () => {
    const projectId = await createProject(log.world, { session }, 'Shop');
    const token = await log.world.token(log.alice, log.acme, { scopes: ['audit:read'], projectId });
    const { person: viewer } = await createMember(log.world, log.acme, 'Viewer', 'viewer');
    const others = [{ token }, { session: await log.world.session(viewer, log.acme.id) }];
    for (const address of [
      '/audit-checkpoints',
      '/audit-events/7/proof',
      '/audit-checkpoints/consistency?first=1&second=2',
    ])
      for (const ask of others) expect((await get(address, ask)).status).toBe(403);
  });
});

describe('aep audit verify', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-audit-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const files = {
    log: path.join(folder, 'log.jsonl'),
    keys: path.join(folder, 'keys.json'),
    kept: path.join(folder, 'kept.txt'),
  };
  let aep: Awaited<ReturnType<typeof openAep>>;
  let env: NodeJS.ProcessEnv;
  let exported: string[];
  beforeAll(async () => {
    aep = await openAep();
    env = { AEP_URL: log.world.url, AEP_TOKEN: await log.world.token(log.alice, log.acme, { scopes: ['audit:read'] }) };
    const { code, stdout } = await aep(['audit', 'export', '--format', 'entries'], env);
    expect(code).toBe(0);
    exported = stdout.trimEnd().split('\n');
    writeFileSync(files.keys, JSON.stringify((await log.world.request('GET', '/.well-known/audit-keys.json')).body));
  });

  const check = async (lines: readonly string[], ...options: string[]) => {
    writeFileSync(files.log, lines.join('\n'));
    return aep(['audit', 'verify', files.log, '--keys', files.keys, ...options], {});
  };

  it('`aep audit verify` accepts an unchanged export and the printed checkpoints, and needs no connection to the service', async () => {
    expect(exported.at(-1)).toContain('"checkpoint"');
    const entries = exported.length - 3;
    writeFileSync(files.kept, (await aep(['audit', 'checkpoints'], env)).stdout);
    const { code, stdout } = await check(exported, '--checkpoints', files.kept);
    expect([code, stdout]).toEqual([
      0,
      `The log was not changed: ${entries} entries, 6 checkpoints; entries up to 520 are signed.\n`,
    ]);
  });

  const at = (number: number, change: (line: string) => string | string[]) => (lines: string[]) =>
    lines.flatMap((line, i) => (i === number - 1 ? change(line) : line));
  /** The number of the entry in a line; 0 for the line of a checkpoint. */
  const numberOf = (line: string) => Number(/^\{"number":(\d+)/.exec(line)?.[1] ?? 0);
  const swapped = (lines: string[]) => lines.with(8, lines[19]!).with(19, lines[8]!);
  const signed = (first: number) =>
    `Entries ${first} to 520 differ from what the checkpoint of 2026-11-23T10:00:00.000Z signed.`;
  const leafOf = (line: string) => /"entry":(.*)\}$/.exec(line)![1]!;
  const forged = (line: string) => {
    const entry = leafOf(line).replace('person', 'system').replace('unknown', 'system');
    return `{"number":310,"leafHash":"${leafHash(entry).toString('base64')}","entry":${entry}}`;
  };
  it.each<[mutant: string, change: (lines: string[]) => string[], finding: string]>([
    ['an edited entry', at(7, (line) => line.replace(/"action":"\w/, '"action":"x')), 'Entry 7 was edited.'],
    ['an edited entry with a new hash', at(310, forged), signed(301)],
    [
      'an entry with a member twice',
      at(7, (line) => line.replace('"number":7,"o', '"number":6,"number":7,"o')),
      'Entry 7 was edited.',
    ],
    ['a deleted entry', at(7, () => []), 'Entry 7 is missing.'],
    [
      'an entry deleted as if by the retention',
      at(7, (line) => line.replace(leafOf(line), 'null')),
      'Entry 7 is missing.',
    ],
    [
      'the oldest entry deleted as if by the retention',
      at(1, (line) => line.replace(leafOf(line), 'null')),
      'Entries up to 1 are missing, although no checkpoint shows that they were old enough to be deleted.',
    ],
    ['swapped entries', swapped, 'Entries 9 and 20 were swapped.'],
    ['a duplicated entry', at(7, (line) => [line, line]), 'Entry 7 is in the file more than once.'],
    [
      'a file that was cut off',
      (lines) => lines.filter((line) => numberOf(line) < 510),
      'Entries 510 to 520 are missing: the checkpoint of 2026-11-23T10:00:00.000Z has 520 entries, the file 509.',
    ],
    [
      'a checkpoint of another size',
      (lines) => lines.map((line) => line.replace('\\n300\\n', '\\n299\\n')),
      'The checkpoint of 2026-11-23T09:00:00.000Z has no valid signature.',
    ],
    ['a file without checkpoints', (lines) => lines.slice(0, -3), 'The file has no checkpoint.'],
    [
      'a line that is neither an entry nor a checkpoint',
      at(7, (line) => [line, '{}']),
      'Line 8 is neither an entry nor a checkpoint.',
    ],
  ])('`aep audit verify` names %s', async (_, change, finding) => {
    const { code, stdout } = await check(change([...exported]));
    expect([code, stdout.split('\n')]).toEqual([1, expect.arrayContaining([finding])]);
  });

  it('`aep audit verify` detects that a log and its checkpoints were truncated, given a checkpoint that was stored elsewhere', async () => {
    const cut = exported.filter((line) => numberOf(line) <= 300).slice(0, -2);
    expect((await check(cut)).code).toBe(0);
    writeFileSync(files.kept, log.notes[2]!);
    const { code, stdout } = await check(cut, '--checkpoints', files.kept);
    expect([code, stdout]).toEqual([
      1,
      'Entries 301 to 520 are missing: the checkpoint of 2026-11-23T11:00:00.000Z has 520 entries, the file 300.\n',
    ]);
  });
});
