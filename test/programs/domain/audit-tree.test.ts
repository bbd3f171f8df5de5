// The Merkle tree of the audit log and its signed checkpoints. The tests also change the stored log in many ways, and expect that the
// verification reports each change.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { AuditEvent } from '#domain/lifecycle/audit/model.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deleteOldEvents } from '#domain/lifecycle/audit/retention.ts';
import { deleteHourlyCheckpoints, signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { entryText } from '#domain/lifecycle/audit/tree/entry.ts';
import { growAllTrees } from '#domain/lifecycle/audit/tree/growth.ts';
import { rotateAuditKey } from '#domain/lifecycle/audit/tree/keys.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { days, hours } from '#foundation/clock.ts';
import { checkpointsIn } from '#foundation/merkle/checkpoints.ts';
import { leafHash } from '#foundation/merkle/tree.ts';
import { createOwner } from '../../support/callers.ts';
import { admin } from '../../support/command-line.ts';
import { keepRows } from '../../support/database-rows.ts';
import { databaseUrl } from '../../support/processes.ts';
import { openSignedLog, type SignedLog, sizes } from '../../support/signed-log.ts';
import type { World } from '../../support/world.ts';

let log: SignedLog;
let world: World;
let acme: Organization;
let notes: string[];
let restore: () => Promise<void>;

/** Inserts a signing key that this service has not created. The service has no private key for it. */
const strangeKey = `insert into audit_keys (id, algorithm, public_key, sealed_private_key, created_at, retired_at)
  values ('strange', 'ed25519', '${Buffer.alloc(32, 9).toString('base64')}', 'none', 1, 1)`;

async function record(count: number): Promise<void> {
  await log.act(count);
  await numberAllChanges();
  await growAllTrees();
}
const findings = async (given = ''): Promise<string[]> => (await verifyLog(acme.id, checkpointsIn(given))).findings;
const sha = (...parts: (Buffer | string)[]) => {
  const all = createHash('sha256');
  for (const part of parts) all.update(part);
  return all.digest();
};

beforeAll(async () => {
  log = await openSignedLog();
  ({ world, acme, notes } = log);
  restore = await keepRows(world.knex);
});
afterAll(() => world.close());
beforeEach(() => restore());

describe('the tree of an audit log', () => {
  it('an audit log has a Merkle tree of its entries and a checkpoint each hour, even for an hour without entries', async () => {
    expect(notes.map((note) => Number(note.split('\n')[1]))).toEqual(sizes);
    expect(new Set(notes).size).toBe(3);
    const events = await world.knex('audit_events').where({ orgId: acme.id }).orderBy('number');
    const texts = events.map(({ occurredAt, traceId, ...event }: Record<string, unknown>) =>
      // All names of an event are ASCII, so the default order is that of RFC 8785.
      JSON.stringify({ ...event, occurredAt, ...(traceId !== null && { traceId }) }, (_, value) =>
        value && typeof value === 'object' && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).sort())
          : value,
      ),
    );
    // A leaf contains the id of a trace only when its event has one.
    const always = AuditEvent.columns.filter((name) => name !== 'traceId');
    expect(Object.keys(JSON.parse(texts[0]!)).sort()).toEqual(always.sort());
    const root = (hashes: Buffer[]): Buffer => {
      if (hashes.length === 1) return hashes[0]!;
      const left = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
      return sha('\u0001', root(hashes.slice(0, left)), root(hashes.slice(left)));
    };
    const leaves = texts.map((text) => sha('\u0000', text));
    for (const [i, size] of sizes.entries()) {
      expect(notes[i]!.split('\n')[2]).toBe(root(leaves.slice(0, size)).toString('base64'));
    }
    const time = '2026-11-23T11:00:00.000Z';
    expect(await verifyLog(acme.id, checkpointsIn(notes.join('\n')))).toEqual({
      ...{ size: 520, firstNumber: 1, notInTree: 0, checkpoints: 3, lastCheckpoint: { size: 520, time } },
      ...{ gaps: [], findings: [] },
    });
  });

  it('an audit log can be verified from the entries that it still retains, even after the signing key was replaced', async () => {
    await rotateAuditKey();
    world.clock.turn(hours(1));
    await signCheckpoints();
    await world.knex('audit_counters').where({ orgId: acme.id }).update({ retentionDays: 30 });
    world.clock.turn(days(30));
    await record(1);
    await signCheckpoints();
    await deleteOldEvents();
    await deleteHourlyCheckpoints();
    const { size, firstNumber, checkpoints, gaps, findings } = await verifyLog(acme.id, checkpointsIn(notes[1]!));
    // The log has 522 events, because the change of the retention was recorded as an event too. Only one checkpoint of the first day is left.
    expect({ size, firstNumber, checkpoints, gaps: gaps.length, findings }).toEqual({
      ...{ size: 522, firstNumber: 521, checkpoints: 3, gaps: 1, findings: [] },
    });
    expect(await world.knex('audit_events').where({ orgId: acme.id }).count('* as n').first()).toEqual({ n: 2 });
    const { body } = await world.request('GET', '/.well-known/audit-keys.json');
    expect(body.keys).toEqual([
      expect.objectContaining({ algorithm: 'ed25519', retiredAt: null }),
      {
        ...body.keys[1],
        algorithm: 'ed25519',
        retiredAt: expect.any(Number),
        publicKey: expect.stringMatching(/^.{43}=$/),
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/private/i);
    world.clock.turn(-days(30) - hours(1));
  });
});

describe('audit verification', () => {
  const at = (number: number) => `org_id = '$org' and number = ${number}`;
  const changedTile = `update audit_tiles set hashes = overlay(hashes placing sha256('x') from 5 * 32 + 1) where level = 0 and index = 0 and org_id = '$org'`;
  const changedUpperTile = `update audit_tiles set hashes = sha256('x') || substring(hashes from 33) where org_id = '$org' and level = 1`;
  const cut = (size: number) => `delete from audit_events where org_id = '$org' and number > ${size};
    delete from audit_tiles where org_id = '$org' and index >= ${Math.ceil(size / 256)} and level = 0;
    update audit_tiles set hashes = substring(hashes for ${(size % 256) * 32}) where org_id = '$org' and index = ${Math.floor(size / 256)} and level = 0;
    update audit_counters set tree_size = ${size}, last_number = ${size} where org_id = '$org'`;
  const mutants: [mutant: string, change: string, finding: string | RegExp][] = [
    ['an edited actor', `update audit_events set actor_id = 'usr_x' where ${at(7)}`, 'Entry 7 was edited.'],
    ['an edited value', `update audit_events set changes = '[]' where ${at(1)}`, 'Entry 1 was edited.'],
    [
      'an edited time',
      `update audit_events set occurred_at = occurred_at + 1 where ${at(520)}`,
      'Entry 520 was edited.',
    ],
    ['a deleted entry', `delete from audit_events where ${at(9)}`, 'Entry 9 is missing.'],
    [
      'deleted entries across tiles',
      `delete from audit_events where org_id = '$org' and number between 250 and 260`,
      'Entries 250 to 260 are missing.',
    ],
    [
      'deleted newest entries',
      `delete from audit_events where org_id = '$org' and number > 517`,
      'Entries 518 to 520 are missing.',
    ],
    [
      'swapped entries',
      `update audit_events set number = -1 where ${at(20)}; update audit_events set number = 20 where ${at(40)};
        update audit_events set number = 40 where ${at(-1)}`,
      'Entries 20 and 40 were swapped.',
    ],
    [
      'an entry under a number that is taken',
      `insert into audit_events select (jsonb_populate_record(e, '{"created_at": 9}')).* from audit_events e where ${at(30)}`,
      'Entry 30 was added.',
    ],
    [
      'an entry after the last number',
      `insert into audit_events select (jsonb_populate_record(e, '{"number": 900}')).* from audit_events e where ${at(30)}`,
      'Entry 900 was added.',
    ],
    [
      'a leaf that was replaced',
      changedTile,
      'Entries 1 to 300 differ from what the checkpoint of 2026-11-23T09:00:00.000Z signed.',
    ],
    [
      'a hash above the leaves that was replaced',
      changedUpperTile,
      'The hashes of the tree above entries 1 to 512 were changed.',
    ],
    [
      'a truncated log',
      cut(500),
      'Entries 501 to 520 are missing: the checkpoint of 2026-11-23T11:00:00.000Z has 520 entries, the log 500. It was truncated, or the ' +
        'database was restored to an earlier state.',
    ],
    [
      'deleted entries behind a retention that was never so short',
      `delete from audit_events where org_id = '$org' and number < 50; update audit_counters set first_number = 50 where org_id = '$org'`,
      'Entries up to 49 are missing, although they are younger than 30 days.',
    ],
    [
      'a checkpoint with another size',
      `update audit_checkpoints set size = 299, note = replace(note, E'\\n300\\n', E'\\n299\\n') where org_id = '$org' and size = 300`,
      /^The checkpoint acp_\w+ was changed: its signature is invalid, or belongs to different values\.$/,
    ],
    [
      'a key that was added to the database',
      strangeKey,
      'The key strange is not one of this service: it has no private key that SECRET_KEY opens.',
    ],
  ];

  test.each(mutants)('verification of an audit log reports %s', async (_, change, finding) => {
    await world.knex.raw(change.replaceAll('$org', acme.id));
    expect(await findings()).toContainEqual(typeof finding === 'string' ? finding : expect.stringMatching(finding));
  });

  it('verification of an audit log detects an edited entry even if its leaf was replaced to match, because a signed checkpoint differs', async () => {
    const event = (await AuditEvent.find({ orgId: acme.id, number: 310 }))!;
    const changed = { ...event, actorId: 'usr_x' };
    await world.knex('audit_events').where({ orgId: acme.id, number: 310 }).update({ actorId: 'usr_x' });
    await world.knex.raw(
      'update audit_tiles set hashes = overlay(hashes placing ? from 53 * 32 + 1) where org_id = ? and level = 0 and index = 1',
      [leafHash(entryText(changed)), acme.id],
    );
    expect(await findings()).toEqual([
      'Entries 301 to 520 differ from what the checkpoint of 2026-11-23T10:00:00.000Z signed.',
      'The hashes of the tree above entries 257 to 512 were changed.',
    ]);
  });

  it('verification of an audit log detects that the database was restored to an earlier state, given a checkpoint that was stored elsewhere', async () => {
    await log.restoreEarlier();
    expect(await findings()).toEqual([]);
    expect(await findings(notes[0])).toEqual([]);
    expect(await findings(notes[2])).toEqual([
      'Entries 301 to 520 are missing: the given checkpoint of 2026-11-23T11:00:00.000Z has 520 entries, the log 300. ' +
        'It was truncated, or the database was restored to an earlier state.',
    ]);
    await record(400);
    expect(await findings(notes[2])).toEqual([
      'Entries 301 to 520 differ from what the given checkpoint of 2026-11-23T11:00:00.000Z signed.',
    ]);
    expect(await findings(notes[2]!.replace('11:00', '12:00'))).toEqual([
      'The given checkpoint of 2026-11-23T12:00:00.000Z has no valid signature.',
    ]);
  });

  it('an audit log with a changed tree gets no further checkpoint; other logs get theirs', async () => {
    const { organization: globex } = await createOwner(world, 'Gina', 'Globex');
    await numberAllChanges();
    await world.knex.raw(changedUpperTile.replaceAll('$org', acme.id));
    world.clock.turn(hours(1));
    await expect(signCheckpoints()).rejects.toThrow(`the audit log of ${acme.id} was changed`);
    world.clock.turn(-hours(1));
    expect(await log.notesOf()).toEqual(notes);
    expect(await world.knex('audit_checkpoints').where({ orgId: globex.id }).select('algorithm', 'size')).toEqual([
      { algorithm: 'ed25519', size: 3 },
    ]);
  });
});

describe('admin audit:verify', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-checkpoints-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const verify = (...args: string[]) =>
    admin(['audit:verify', ...args], {
      DATABASE_URL: databaseUrl(world.connection),
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      PUBLIC_URL: world.url,
    });

  it('`admin audit:verify` prints the state of each log, and exits with 1 when a log was changed', async () => {
    const file = path.join(folder, 'kept.txt');
    writeFileSync(file, notes.join('\n'));
    const { code, stdout } = await verify('--checkpoints', file);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { acme: { size: 520, checkpoints: 3, findings: [] } }]);
    await world.knex('audit_events').where({ orgId: acme.id, number: 3 }).delete();
    expect(await verify('--org', 'acme')).toEqual({ code: 1, stdout: '', stderr: 'acme: Entry 3 is missing.\n' });
    writeFileSync(file, 'nothing');
    expect(await verify('--checkpoints', file)).toMatchObject({
      code: 1,
      stderr: `--checkpoints: ${file} contains no checkpoint\n`,
    });
  });
});
