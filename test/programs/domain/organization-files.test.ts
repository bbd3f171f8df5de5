// One installation packs an organization into a file, and another installation, which has another service key, imports it from the file. The
// organization is imported completely or not at all.
import { execFileSync, spawn } from 'node:child_process';
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { publishedKeys } from '#domain/lifecycle/audit/tree/keys.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import type { Header, Manifest } from '#domain/lifecycle/organization-files/format.ts';
import { joinOrganization } from '#domain/lifecycle/organization-files/join.ts';
import { leftOut } from '#domain/lifecycle/organization-files/left-out.ts';
import { packOrganization } from '#domain/lifecycle/organization-files/pack.ts';
import { sealedColumns } from '#domain/lifecycle/organization-files/sealed-columns.ts';
import {
  ownCondition,
  type PackedTable,
  packedTables,
  sharedTables,
} from '#domain/lifecycle/organization-files/tables.ts';
import { findOrCreatePerson } from '#domain/organization/people/operations.ts';
import { subjectOfAddress } from '#domain/organization/person-keys/keys.ts';
import { newId } from '#foundation/ids.ts';
import { database } from '#foundation/postgres/database.ts';
import { bindSecretKey, sealWith, unseal } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage, storage } from '#foundation/storage/storage.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { admin } from '../../support/command-line.ts';
import { craftFile } from '../../support/crafted-file.ts';
import { databaseUrl, programArguments, projectFolder } from '../../support/processes.ts';
import { type SampleOrganization, seedOrganization } from '../../support/sample-organization.ts';
import { openWorld, type World } from '../../support/world.ts';

const top = mkdtempSync(path.join(tmpdir(), 'aep-organization-files-'));
const secret = Buffer.alloc(32, 5).toString('base64');
const passphrase = 'correct horse battery staple';
const keyHere = Buffer.alloc(32, 7);
const keyThere = Buffer.alloc(32, 9);
const file = path.join(top, 'acme.aep');

let here: World;
let there: World;
let sample: SampleOrganization;
let tables: PackedTable[];
let bytes: Buffer;
/** A file that is encrypted with a passphrase. */
let locked: Buffer;
/** A member of the organization who has an account in the other installation too. */
let known: { inFile: string; here: string };

const orgId = () => sample.organization.id;
const pack = async (by = secret): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  await packOrganization(orgId(), by, async (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
};
async function* inChunks(whole: Buffer, size = 50_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}
const join = (whole: Buffer, by = secret) => joinOrganization(inChunks(whole), by);
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'joined',
    (error: Error) => error.message,
  );

beforeAll(async () => {
  here = await openWorld();
  sample = await seedOrganization(here);
  openStorage(folderStorage(path.join(top, 'here')));
  await here.knex('stored_contents').update({ sizeBytes: 70_000 });
  for (const { key, sizeBytes } of await here.knex('stored_contents'))
    await storage().write(key, inChunks(Buffer.alloc(sizeBytes, key)), sizeBytes);
  const archive = { contentKey: newId('content'), sizeBytes: 9_000, directoryBytes: 1, directorySha256: 'digest' };
  const ofRun = { orgId: orgId(), projectId: sample.ids.projectId, runId: sample.ids.runId, number: 0 };
  await here.knex('log_archives').insert({ ...archive, ...ofRun, endedAt: 1, createdAt: 1 });
  await storage().write(archive.contentKey, inChunks(Buffer.alloc(9_000, 'log')), 9_000);
  await signCheckpoints();
  tables = await database().transaction((trx) => packedTables(trx));
  bytes = await pack();
  locked = await pack(passphrase);
  writeFileSync(file, bytes);
  there = await openWorld();
  bindSecretKey(keyThere);
  openStorage(folderStorage(path.join(top, 'there')));
  const email = (await here.knex('people').where({ id: sample.ids.userId }).first()).email;
  known = { inFile: sample.ids.userId!, here: (await findOrCreatePerson(email)).id };
  const digestBy = (key: Buffer) => {
    bindSecretKey(key);
    return subjectOfAddress(orgId(), sample.ids.person!).id;
  };
  replaced = [
    [known.inFile, known.here],
    [digestBy(keyHere), digestBy(keyThere)],
  ];
});
afterAll(async () => {
  await there.close();
  await here.knex.destroy();
  rmSync(top, { recursive: true });
});

/** Rows of the organization as JSON, without sealed values. */
async function rowsOf(knex: Knex, table: PackedTable): Promise<string[]> {
  const sealed = Object.keys(sealedColumns[table.name] ?? {});
  const columns = table.columns.filter((column) => !sealed.includes(column)).map((column) => `"${column}"`);
  const { rows } = await knex.raw(
    `select row_to_json(r)::text as row from (select ${columns.join(', ')} from ${table.name} where ${ownCondition(table, orgId(), tables)}) r`.replaceAll(
      '?',
      '\\?',
    ),
  );
  return (rows as { row: string }[]).map(({ row }) => row).sort();
}
/**
 * Each pair consists of an id in the rows of the organization file and the id that replaces it when the other installation imports the file.
 * The ids in the first pair belong to one person. The ids in the second pair are those that the two installations derive from the same email
 * address, each with its own key.
 */
let replaced: [string, string][] = [];
const renamed = (row: string) => replaced.reduce((text, [inFile, here]) => text.replaceAll(inFile, here), row);
const filesIn = (folder: string) => {
  const found = readdirSync(path.join(top, folder), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
};
const isHere = async () => (await there.knex('organizations').where({ id: orgId() })).length > 0;

describe('organization files that cannot be imported', () => {
  it('an organization file with a wrong key, damaged bytes or a missing end is refused with the reason, and leaves nothing behind', async () => {
    expect(await messageOf(join(locked, 'another passphrase'))).toBe('the passphrase does not open this file');
    expect(await messageOf(join(bytes, keyThere.toString('base64')))).toBe('the key does not open this file');
    expect(await messageOf(pack('too short'))).toBe('the passphrase must have at least 12 characters');
    const damage = (at: number) => {
      const copy = Buffer.from(bytes);
      copy[at]! ^= 1;
      return copy;
    };
    for (const part of [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
      expect(await messageOf(join(damage(Math.floor(bytes.length * part))))).toMatch(
        /^(the file is damaged|this is not an organization file)/,
      );
    }
    expect(await messageOf(join(damage(bytes.length - 1)))).toMatch('the file is damaged');
    for (const size of [0, 400, bytes.length >> 1, bytes.length - 2_000, bytes.length - 1])
      expect(await messageOf(join(bytes.subarray(0, size)))).toMatch('the file is truncated');
    expect(await messageOf(join(Buffer.alloc(5_000, 'not a file')))).toMatch('the file is damaged');
    expect([await isHere(), filesIn('there')]).toEqual([false, []]);
    expect(await there.knex('stored_contents')).toEqual([]);
    expect(await there.knex('people').where({ id: sample.owner.id })).toEqual([]);
  });

  it('an organization file from another database schema is refused, and the error names both schemas', async () => {
    const [last] = await there.knex('knex_migrations').orderBy('id', 'desc').limit(1);
    await there.knex('knex_migrations').where({ id: last.id }).update({ name: '20991231_01_later.sql' });
    const message = await messageOf(join(bytes)).finally(() =>
      there.knex('knex_migrations').where({ id: last.id }).update({ name: last.name }),
    );
    expect(message).toMatch(`the schema ${last.name}, but this installation has 20991231_01_later.sql`);
  });

  it('an organization file is refused when its slug is taken, or when a person has one email address in the file and a different one in the installation', async () => {
    const { slug } = sample.organization;
    const { organization: other } = await createOwner(there, 'Other', 'Other');
    await there.knex('organizations').where({ id: other.id }).update({ slug });
    expect(await messageOf(join(bytes))).toBe(
      `another organization in this installation already has the slug ${slug}: rename one of the two organizations first`,
    );
    await there.knex('organizations').where({ id: other.id }).update({ slug: 'other' });
    const renamedPerson = {
      ...(await here.knex('people').where({ id: sample.owner.id }).first()),
      email: 'renamed@example.com',
    };
    await there.knex('people').insert(renamedPerson);
    expect(await messageOf(join(bytes))).toMatch(
      `the person ${sample.owner.id} has the email address ${sample.owner.email} in the file and renamed@example.com here`,
    );
    await there.knex('people').where({ id: sample.owner.id }).delete();
  });

  it('an organization file is refused when one of its unique values already exists in the installation', async () => {
    const { id } = await there.knex('organizations').where({ slug: 'other' }).first();
    const token = await here.knex('tokens').where({ id: sample.ids.tokenId }).first();
    const owner = await there.person('Other');
    await there
      .knex('tokens')
      .insert({
        ...token,
        id: 'tok_other',
        orgId: id,
        userId: owner.id,
        projectId: null,
        scopes: JSON.stringify(token.scopes),
      })
      .catch(async () => {
        await there.knex('tokens').insert({ ...token, id: 'tok_other', orgId: id, userId: owner.id, projectId: null });
      });
    expect(await messageOf(join(bytes))).toMatch(
      /^tokens: Key \(digest\)=.* already exists\. Another organization of this installation has this value\.$/,
    );
    await there.knex('tokens').where({ id: 'tok_other' }).delete();
    expect([await isHere(), filesIn('there')]).toEqual([false, []]);
  });
});

describe('organization files forged by a person who has the key of the file', () => {
  const key = Buffer.from(secret, 'base64');
  const row = (table: string, values: Record<string, unknown>) => {
    const { columns } = tables.find(({ name }) => name === table)!;
    return `${columns.map((column) => values[column] ?? '\\N').join('\t')}\n`;
  };

  it('a forged organization file cannot add rows to another organization, and cannot take the stored contents of another organization', async () => {
    const { person: owner, organization } = await createOwner(there, 'Victor', 'Victim');
    const { id } = organization;
    const session = await there.session(owner, id);
    const projectId = await createProject(there, { session }, 'Other');
    const content = { key: newId('content'), orgId: id, createdAt: 1, sizeBytes: 5 };
    await there.knex('stored_contents').insert(content);
    const archive = { contentKey: newId('content'), sizeBytes: 9, directoryBytes: 1, directorySha256: 'digest' };
    const ofRun = { orgId: id, projectId, runId: 'run_other', number: 0 };
    await there.knex('log_archives').insert({ ...archive, ...ofRun, endedAt: 1, createdAt: 1 });

    const joinedKey = { org_id: id, id: 'key', algorithm: 'ed25519', public_key: 'k', sealed_public_key: 'unreadable' };
    const addsKey = (rows: string) =>
      rows + row('audit_joined_keys', { ...joinedKey, created_at: 1, retired_at: 9e15 });
    expect(await messageOf(join(await craftFile(bytes, key, { tables: { audit_joined_keys: addsKey } })))).toBe(
      'the file is damaged:\naudit_joined_keys: 1 rows were sent, 0 arrived',
    );
    const unknown = {
      header: (header: Header) => Object.assign(header, { addresses: sealWith(key, 'addresses', '{}') }),
      people: (rows: string) => rows.replaceAll('@example.com', '@unknown.example'),
    };
    // Lines that end with a carriage return are rows for COPY, too.
    const moved = (rows: string) => rows.replaceAll(orgId(), id).replaceAll('\n', '\r');
    const budgets = { header: unknown.header, tables: { people: unknown.people, budgets: moved } };
    expect(await messageOf(join(await craftFile(bytes, key, budgets)))).toMatch(
      /^the file is damaged: budgets: it has 0 lines for \d rows$/,
    );
    const takes = (rows: string) =>
      rows + row('stored_contents', { ...content, org_id: orgId(), created_at: 1, size_bytes: 5 });
    expect(await messageOf(join(await craftFile(bytes, key, { tables: { stored_contents: takes } })))).toBe(
      'this installation already has some of the contents in the file',
    );
    const [{ contentKey }] = await here.knex('log_archives').where({ orgId: orgId() });
    const archives = {
      tables: { log_archives: (rows: string) => rows.replace(contentKey, archive.contentKey) },
      manifest: ({ contents }: Manifest) => void contents.missing.push(archive.contentKey),
    };
    expect(await messageOf(join(await craftFile(bytes, key, archives)))).toBe(
      'the file is damaged:\na record has the content of another organization',
    );
    expect(await there.knex('stored_contents').select('key', 'orgId')).toEqual([{ key: content.key, orgId: id }]);
    expect(await there.knex('log_archives').select('orgId', 'contentKey')).toEqual([
      { orgId: id, contentKey: archive.contentKey },
    ]);
    expect(await there.knex('budgets').where({ orgId: id })).toEqual([]);
    await there.knex('log_archives').delete();
    await there.knex('stored_contents').delete();
  });

  it('a forged organization file is refused if its header would make the derivation of the key use much memory', async () => {
    const scrypt = { n: 2 ** 20, r: 32, p: 1, salt: '' };
    const file = await craftFile(bytes, key, {
      header: ({ key }) => void Object.assign(key, { scrypt }),
    });
    expect(await messageOf(join(file))).toBe('this is not an organization file');
  });
});

describe('two installations with one storage', () => {
  it('importing an organization file is refused when both installations use one storage, and the sweep does not remove the file’s contents', async () => {
    openStorage(folderStorage(path.join(top, 'here')));
    expect(await messageOf(join(bytes))).toMatch('each installation needs its own bucket or prefix');
    openStorage(folderStorage(path.join(top, 'there')));
    expect(await there.knex('stored_contents')).toEqual([]);
  });
});

describe('killed imports of organization files', () => {
  it('a killed import of an organization file leaves no row; its contents stay for the next import', async () => {
    const pipe = path.join(top, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl(there.connection),
      SECRET_KEY: keyThere.toString('base64'),
      STORAGE_URL: `file://${path.join(top, 'there')}`,
    };
    writeFileSync(path.join(top, 'secret'), secret);
    const args = [
      ...programArguments('admin'),
      'org:join',
      '--from',
      pipe,
      '--passphrase-file',
      path.join(top, 'secret'),
    ];
    const child = spawn(process.execPath, args, { cwd: projectFolder, env, stdio: 'inherit' });
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    const input = createWriteStream(pipe);
    input.on('error', () => {});
    // All bytes except the last ones, which contain the manifest.
    input.write(bytes.subarray(0, bytes.length - 20_000));
    await vi.waitFor(async () => {
      const { rows } = await there.knex.raw(
        `select 1 from pg_stat_activity where application_name = ? and state <> 'idle' and query ~ '^copy'`,
        [`admin ${child.pid}`],
      );
      expect(rows.length).toBeGreaterThan(0);
    });
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    input.destroy();
    expect([await isHere(), filesIn('there').length]).toEqual([false, filesIn('here').length]);
    await vi.waitFor(async () => {
      const { rows } = await there.knex.raw('select 1 from pg_stat_activity where application_name = ?', [
        `admin ${child.pid}`,
      ]);
      expect(rows).toEqual([]);
    });
  });
});

describe('imported organizations', () => {
  it('an imported organization has all of its rows and stored contents, its ledger, and its audit log with the checkpoints', async () => {
    const joined = await join(locked, passphrase);
    expect(joined).toMatchObject({
      organization: { id: orgId(), slug: sample.organization.slug },
      from: here.url,
      people: { known: [known] },
      contents: { missing: [] },
    });
    for (const table of tables) {
      if (sharedTables.some((name) => name === table.name)) continue;
      const [before, after] = [await rowsOf(here.knex, table), await rowsOf(there.knex, table)];
      const changed = table.name === 'audit_events' ? before : before.map(renamed).sort();
      if (table.name === 'audit_changes') expect(after.length).toBe(1);
      else if (table.name === 'audit_joined_keys') expect(after.length).toBe(1);
      else expect([table.name, after]).toEqual([table.name, changed]);
    }
    const filled = tables.filter(({ name }) => (joined.tables[name] ?? 0) > 0).length;
    expect(filled).toBeGreaterThan(60);
    expect(filesIn('there')).toEqual(filesIn('here'));
    for (const key of filesIn('here')) {
      const read = (folder: string) => readFileSync(path.join(top, folder, key.slice(-2), key));
      expect(read('there').equals(read('here'))).toBe(true);
    }
    const verified = await verifyLog(orgId(), []);
    expect([verified.findings, verified.checkpoints > 0]).toEqual([[], true]);
    expect(await publishedKeys()).toEqual([expect.objectContaining({ retiredAt: expect.any(Number) })]);
    // The audit log continues after the import. It contains an event about the import, and the importing installation signs later checkpoints with
    // its own key.
    here.clock.turn(0);
    there.clock.turn(3_600_000);
    await signCheckpoints();
    const later = await verifyLog(orgId(), []);
    expect([later.findings, later.size > verified.size]).toEqual([[], true]);
    const [event] = await there.knex('audit_events').where({ orgId: orgId(), action: 'organization.joined' });
    expect(event).toMatchObject({ targetId: orgId() });
  });

  it('the secrets of an imported organization are sealed with the service key of the installation', async () => {
    let found = 0;
    for (const table of tables) {
      for (const [column, purposeOf] of Object.entries(sealedColumns[table.name] ?? {})) {
        const read = async ({ knex }: World, key: Buffer) => {
          const query = `select * from ${table.name} where ${ownCondition(table, orgId(), tables)} and ${column} is not null`;
          const { rows } = await knex.raw(query);
          bindSecretKey(key);
          const camel = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
          const fieldOf = (row: Record<string, string>, name: string) => row[camel(name)] ?? row[name]!;
          // Some values of the sample were never encrypted, so neither the exporting nor the importing installation can decrypt them.
          const open = (row: Record<string, string>) => {
            try {
              return unseal(
                purposeOf((name) => fieldOf(row, name)),
                fieldOf(row, column),
              );
            } catch {
              return 'unreadable';
            }
          };
          return (rows as Record<string, string>[]).map(open).sort();
        };
        const [before, after] = [await read(here, keyHere), await read(there, keyThere)];
        if (table.name !== 'audit_joined_keys' && table.name !== 'person_keys')
          expect([table.name, column, after]).toEqual([table.name, column, before]);
        found += after.filter((value) => value !== 'unreadable').length;
      }
    }
    expect(found).toBeGreaterThan(8);
    const text = bytes.toString('latin1');
    for (const plain of ['xoxb-sample', 'a-signing-secret']) expect(text).not.toContain(plain);
  });

  it('members of an imported organization can read its projects and artifacts', async () => {
    const session = await there.session(sample.owner, orgId());
    const { body } = await there.rest('GET', `/projects/${sample.ids.projectId}`, { session });
    expect(body).toMatchObject({ id: sample.ids.projectId, orgId: orgId() });
    const artifact = await there.rest('GET', `/artifacts/${sample.ids.artifactId}`, { session });
    expect(artifact.status).toBe(200);
  });

  it('an organization cannot be imported into an installation twice', async () => {
    expect(await messageOf(join(bytes))).toBe(`the organization ${orgId()} is already in this installation`);
  });

  it('`org:pack` writes an imported organization to a file again, with a key, and never overwrites a file', async () => {
    const env = {
      DATABASE_URL: databaseUrl(there.connection),
      SECRET_KEY: keyThere.toString('base64'),
      STORAGE_URL: `file://${path.join(top, 'there')}`,
    };
    const key = Buffer.alloc(32, 3).toString('base64');
    const to = path.join(top, 'again.aep');
    rmSync(to, { force: true });
    const packed = await admin(['org:pack', '--org', sample.organization.slug, '--to', to], env, key);
    expect([packed.code, packed.stderr]).toEqual([0, '']);
    expect(JSON.parse(packed.stdout)).toMatchObject({
      file: to,
      organization: { id: orgId() },
      contents: { missing: [] },
    });
    const repeated = await admin(['org:pack', '--org', sample.organization.slug, '--to', to], env, key);
    expect([repeated.code, repeated.stderr]).toEqual([1, expect.stringContaining('EEXIST')]);
    const refused = await admin(['org:join', '--from', to], env, 'x'.repeat(20));
    expect([refused.code, refused.stderr.trim()]).toEqual([
      1,
      'the file was written with a key of 32 bytes in base64, not with a passphrase',
    ]);
    expect(await messageOf(joinOrganization(createReadStream(to), key))).toMatch('is already in this installation');
  });
});

describe('tables in organization files', () => {
  it('each sealed column of a table in organization files is declared', async () => {
    const { rows } = await there.knex.raw(
      `select table_name as name, column_name as column from information_schema.columns where table_schema = 'public' and column_name ~ '^sealed'`,
    );
    const sealed = (rows as { name: string; column: string }[])
      .filter(({ name }) => !(name in leftOut))
      .map(({ name, column }) => `${name}.${column}`);
    const declared = Object.entries(sealedColumns).flatMap(([name, columns]) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    expect(sealed.sort()).toEqual(declared.sort());
  });
});
