// The export of a closed organization: an archive with all of its rows and no secret, available to owners until the erasure.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { eraseClosedOrganizations } from '#domain/lifecycle/closure/erase.ts';
import { requestExport, writeExport } from '#domain/lifecycle/closure/export.ts';
import { exportTables } from '#domain/lifecycle/closure/export-tables.ts';
import { settleClosures } from '#domain/lifecycle/closure/steps.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, seconds } from '#foundation/clock.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage, storage } from '#foundation/storage/storage.ts';
import { verifyFile } from '../../clients/cli/src/audit-file.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { readTree } from '../support/layering-rules.ts';
import { type SampleOrganization, seedOrganization } from '../support/sample-organization.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let sample: SampleOrganization;
let session: Session;
let secret: string;
let stranger: Person;
let neighbor: Organization;

beforeAll(async () => {
  world = await openWorld();
  sample = await seedOrganization(world);
  await signCheckpoints();
  ({ person: stranger, organization: neighbor } = await createOwner(world, 'Stranger', 'Neighbor'));
  session = await world.session(sample.owner, sample.organization.id);
  secret = await world.token(sample.owner, sample.organization);
});
afterAll(() => world.close());

const members = 'orgId status requestedAt url sizeBytes expiresAt';
type By = { session: Session } | { token: string };
async function ask(kind: 'mutation' | 'query', orgId: string, by: By) {
  const field = kind === 'mutation' ? 'exportOrganization' : 'organizationExport';
  const { body } = await world.graphql(`${kind} { it: ${field}(orgId: "${orgId}") { ${members} } }`, by);
  return body.errors ? body.errors[0].extensions.code : body.data.it;
}
const request = (by: By = { session }) => ask('mutation', sample.organization.id, by);
const read = (by: By = { session }) => ask('query', sample.organization.id, by);
const close = ({ organization }: SampleOrganization, by: Session) =>
  world.rest('POST', `/organizations/${organization.id}/closure`, {
    session: by,
    body: { confirmSlug: organization.slug },
  });
const settle = async () => {
  await settleMissions();
  await settleClosures();
};
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
async function withoutTable(table: string, work: () => Promise<void>): Promise<void> {
  await world.knex.raw(`alter table ${table} rename to gone`);
  await work().finally(() => world.knex.raw(`alter table gone rename to ${table}`));
}
const jobs = () => world.knex('background.job').where({ name: 'export organization' });

describe('requesting the export of a closed organization', () => {
  it('409, 403 · an export is refused while the organization is open, and to members who are not owners', async () => {
    expect(await request()).toBe('conflict');
    expect(await read()).toBe('not_found');
    expect(await request({ token: secret })).toBe('forbidden');
    const { person: admin } = await createMember(world, sample.organization, 'Admin', 'admin');
    expect(await request({ session: await world.session(admin, sample.organization.id) })).toBe('forbidden');
  });

  it('repeated requests share one export, which is prepared once the closure is settled', async () => {
    await close(sample, session);
    expect(await read()).toBe('not_found');
    const first = await request();
    expect(first).toMatchObject({ status: 'preparing', url: null, sizeBytes: null, expiresAt: null });
    world.clock.turn(seconds(1));
    expect(await request()).toEqual(first);
    // The archive includes the final ledger, so it waits for the settlement.
    expect(await jobs()).toEqual([]);
    await settle();
    expect(await jobs()).toHaveLength(1);
    expect(await read()).toEqual(first);
  });

  it('a failed export is shown as failed, and is retried by the queue and by a new request', async () => {
    openStorage({ ...folderStorage(world.contents), write: () => Promise.reject(new Error('The disk is full.')) });
    await world.delivered();
    expect(await read()).toMatchObject({ status: 'failed', url: null });
    expect(await world.knex('org_exports').first()).toMatchObject({ failure: 'Error: The disk is full.' });
    expect(await jobs()).toMatchObject([{ state: 'retry' }]);
    openStorage(folderStorage(world.contents));
    await expect(
      withoutTable('sandbox_fragments', () => writeExport({ orgId: sample.organization.id })),
    ).rejects.toThrow('sandbox_fragments');
    expect(filesIn(world.contents)).toEqual([]);
    world.clock.turn(seconds(1));
    expect(await request()).toMatchObject({ status: 'preparing' });
    expect(await jobs()).toHaveLength(2);
    await world.delivered();
    const ready = await read();
    expect(ready).toMatchObject({ orgId: sample.organization.id, status: 'ready' });
    expect(await request()).toEqual(ready);
    await writeExport({ orgId: sample.organization.id });
    expect(filesIn(world.contents)).toHaveLength(1);
  });
});

describe('archives of closed organizations', () => {
  it('the archive of a closed organization has a manifest and JSON lines, which contain only its own records and no secrets', async () => {
    const { url, sizeBytes } = await read();
    const answer = await fetch(url);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="export-${sample.organization.id}.zip"`,
    );
    const archive = await answer.arrayBuffer();
    expect(archive.byteLength).toBe(sizeBytes);
    const zip = await JSZip.loadAsync(archive);
    const manifest = JSON.parse(await zip.file('manifest.json')!.async('string'));
    expect(manifest).toMatchObject({ format: 1, organization: sample.organization.id });
    expect(Object.keys(zip.files).sort()).toEqual(
      [...manifest.files.map(({ file }: { file: string }) => file), 'manifest.json'].sort(),
    );
    let everything = '';
    for (const { file, records, sha256 } of manifest.files) {
      const text = await zip.file(file)!.async('string');
      expect([file, createHash('sha256').update(text).digest('hex')]).toEqual([file, sha256]);
      expect(text.split('\n').length - 1).toBe(records);
      for (const line of text.split('\n').slice(0, -1)) JSON.parse(line);
      everything += text;
    }
    const log = (await zip.file('audit-log.jsonl')!.async('string')).split('\n');
    const { findings, entries, signed, checkpoints } = await verifyFile(Readable.from(log), { kept: [] });
    expect([findings, entries >= signed, signed > 0, checkpoints > 0]).toEqual([[], true, true, true]);
    const recordsOf = Object.fromEntries(
      manifest.files.map((entry: { file: string; records: number }) => [entry.file, entry.records]),
    );
    expect(recordsOf).toMatchObject({ 'organizations.jsonl': 1, 'projects.jsonl': 2, 'org_closures.jsonl': 1 });
    const filled = ['runs', 'sandboxes', 'sandbox_log_parts', 'credit_transfers', 'credit_entries', 'people', 'tokens'];
    for (const file of filled) expect([file, recordsOf[`${file}.jsonl`] > 0]).toEqual([file, true]);
    expect(everything).toContain(sample.ids.projectId);
    expect(everything).not.toContain(neighbor.id);
    for (const text of [secret, sample.serviceToken, session.secret, ...(await secretsInDatabase())])
      expect(everything.includes(text)).toBe(false);
  });

  /** All values, in every organization, of the columns whose names mark them as secret. */
  async function secretsInDatabase(): Promise<string[]> {
    const { rows } = await world.knex.raw(
      `select table_name as t, column_name as c from information_schema.columns
        where table_schema = 'public' and column_name ~ 'digest|sealed|secret|challenge|password|private'
          and column_name not in ('declared_digest', 'secret_refs') and table_name <> 'outside_effects'`,
    );
    const found = await Promise.all(
      rows.map(({ t, c }: { t: string; c: string }) =>
        world.knex.raw(`select "${c}"::text as text from "${t}" where "${c}" is not null`),
      ),
    );
    const texts: string[] = found.flatMap((one) => one.rows.map(({ text }: { text: string }) => text));
    expect(texts.length).toBeGreaterThan(10);
    // Bytes are hexadecimal after `\x`, which JSON writes as `\\x`.
    return texts.filter((text) => text.length > 8).map((text) => text.replace(/^\\x/, ''));
  }

  it('404, 403 · the archive of a closed organization is hidden from other people, and its download URL is refused when altered or expired', async () => {
    const { url } = await read();
    const theirs = { session: await world.session(stranger, neighbor.id) };
    expect([await read(theirs), await request(theirs)]).toEqual(['not_found', 'not_found']);
    expect((await fetch(url.replace(sample.organization.id, neighbor.id))).status).toBe(403);
    expect((await fetch(url.replace(/signature=../, 'signature=xx'))).status).toBe(403);
    world.clock.turn(hours(1));
    expect((await fetch(url)).status).toBe(403);
    const part = await fetch((await read()).url, { headers: { range: 'bytes=0-1' } });
    expect([part.status, await part.text()]).toEqual([206, 'PK']);
  });

  it('the archive of a closed organization is erased with the organization, and can no longer be requested in the last hour before the erasure', async () => {
    world.clock.turn(days(30) - hours(1));
    session = await world.session(sample.owner, sample.organization.id);
    const { url } = await read();
    await expect(requestExport(sample.organization.id)).rejects.toMatchObject({ status: 409 });
    const { contentKey } = await world.knex('org_exports').first();
    while ((await world.knex('billing_orders').where({ status: 'withdrawn', refundedAt: null })).length > 0)
      await sendRefunds();
    await eraseClosedOrganizations();
    expect((await fetch(url)).status).toBe(404);
    expect(await storage().read(contentKey)).toBeNull();
    expect(await world.knex('organizations').where({ id: sample.organization.id })).toEqual([]);
  });
});

describe('models in the archive', () => {
  /** Tables that no archive includes, each with its reason. */
  const leftOut: Record<string, string> = {
    cell_organizations: 'says where organizations are that this cell does not serve',
    sessions: 'sign-ins of people, which belong to no organization',
    authorization_codes: 'sign-ins in progress, named by a digest',
    access_tokens: 'credentials of sign-ins, which are exported',
    refresh_tokens: 'credentials of sign-ins, which are exported',
    claim_attempts: 'sign-ins in progress',
    provider_sign_ins: 'sign-ins in progress',
    log_archives: 'their rows are exported as those of logs and fragments',
    org_exports: 'the archive itself',
  };

  it('each model with rows of an organization is exported, or excluded with a reason', async () => {
    const tree = readTree(new URL('../..', import.meta.url).pathname, ['src/domain']);
    const declared = Object.entries(tree).flatMap(([file, text]) =>
      [...text.matchAll(/^export class (\w+) extends table\(/gm)].map(([, name]) => [file, name!] as const),
    );
    const ofOrganizations: string[] = [];
    for (const [file, name] of declared) {
      const model = (await import(/* @vite-ignore */ `../../${file}`))[name];
      const belongs = ['orgId', 'sandboxId', 'transferId', 'signInId', 'registrationId', 'threadId'];
      if (belongs.some((column) => model.columns.includes(column))) ofOrganizations.push(model.tableName);
    }
    const exported = exportTables.map(({ name }) => name);
    expect([...exported, ...Object.keys(leftOut)].sort()).toEqual(
      [...ofOrganizations, 'organizations', 'people'].sort(),
    );
  });
});
