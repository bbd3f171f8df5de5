// `open FILE` shows the console of an organization that is stored in a file: read-only, in a process without a database of its own.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { packOrganization } from '#domain/lifecycle/organization-files/pack.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage, storage } from '#foundation/storage/storage.ts';
import { temporaryHome } from '../../support/global-setup.ts';
import { linesOf, signInWith, startOpening } from '../../support/opened-file.ts';
import type { Session } from '../../support/requests.ts';
import { type SampleOrganization, seedOrganization } from '../../support/sample-organization.ts';
import { openWorld, type World } from '../../support/world.ts';

const top = temporaryHome();
const file = path.join(top, 'acme.aep');
const secret = Buffer.alloc(32, 5).toString('base64');
const shot = 'The bytes of a screenshot.';

let world: World;
let sample: SampleOrganization;
let program: ChildProcess;
let lines: string[];
let request: Awaited<ReturnType<typeof signInWith>>['request'];
let session: Session;

beforeAll(async () => {
  world = await openWorld();
  sample = await seedOrganization(world);
  openStorage(folderStorage(path.join(top, 'contents')));
  const { contentKey } = await world.knex('artifacts').where({ id: sample.ids.artifactId }).first();
  for (const table of ['stored_contents', 'artifacts'])
    await world
      .knex(table)
      .where({ [table === 'artifacts' ? 'contentKey' : 'key']: contentKey })
      .update({ sizeBytes: shot.length });
  await storage().write(
    contentKey,
    (async function* () {
      yield Buffer.from(shot);
    })(),
    1_000,
  );
  // The organization allows only a network to which the machine that opens the file does not belong.
  await world
    .knex('organizations')
    .where({ id: sample.organization.id })
    .update({ allowedNetworks: '{203.0.113.0/24}' });
  const chunks: Buffer[] = [];
  await packOrganization(sample.organization.id, secret, async (chunk) => void chunks.push(chunk));
  writeFileSync(file, Buffer.concat(chunks));
  program = startOpening(file, secret, top);
  lines = await linesOf(program);
});
afterAll(async () => {
  program?.kill('SIGKILL');
  await world.close();
  rmSync(top, { recursive: true, force: true });
});

const folders = () => readdirSync(top).filter((name) => name.startsWith('aep-open-'));
const textOf = async (child: ChildProcess): Promise<string> => {
  let text = '';
  child.stderr!.on('data', (chunk) => (text += chunk));
  await once(child, 'exit');
  return text;
};

describe('Opened organization files', () => {
  it('opening an organization file prints a link that signs an owner in to a read-only console', async () => {
    expect(lines[0]).toMatch(`${sample.organization.name}, read-only, as packed at ${world.url}: http://localhost:`);
    const { browser, statuses, visit, ...signedIn } = await signInWith(lines);
    request = signedIn.request;
    expect([statuses, browser.has('session')]).toEqual([[200, 303], true]);
    const page = await visit(`/console/o/${sample.organization.slug}/inbox`);
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('data-csrf=')]);
    expect(page.body).toContain('<span class="tag">read-only</span>');
    const scopes = /data-scopes="([^"]+)"/.exec(page.body)![1]!.split(' ');
    expect(scopes).toContain('projects:read');
    expect(scopes.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
    const [, csrf] = /data-csrf="([^"]+)"/.exec(page.body)!;
    session = { secret: browser.get('session')!, csrf: csrf! };
  });

  it('an opened organization file answers queries with its records and contents', async () => {
    const { body } = await request('GET', '/v1/me', { session });
    expect(body).toMatchObject({ orgId: sample.organization.id, role: 'owner' });
    const query = `{ run(runId: "${sample.ids.runId}") { id } artifact(artifactId: "${sample.ids.artifactId}") { url } }`;
    const asked = await request('POST', '/graphql', { session, body: { query } });
    expect(asked.body.data?.run).toEqual({ id: sample.ids.runId });
    const url = new URL(asked.body.data.artifact.url);
    expect((await request('GET', url.pathname + url.search)).body).toBe(shot);
  });

  it('409 · an opened organization file refuses every change, over every API and in the console', async () => {
    const token = { token: sample.serviceToken };
    const mutation = `mutation { createIssue(input: { projectId: "${sample.ids.projectId}", title: "New" }) { id } }`;
    const asked = await request('POST', '/graphql', { session, body: { query: mutation } });
    expect(asked.body.errors?.[0].extensions.code).toBe('read_only');
    for (const [method, address, by] of [
      ['POST', '/v1/projects', { session }],
      ['DELETE', `/v1/tokens/${sample.ids.tokenId}`, { session }],
      ['POST', '/mcp', token],
      ['POST', '/a2a', token],
      ['POST', '/oauth/token', {}],
      ['POST', '/sign-in', {}],
      ['PUT', '/v1/artifacts/content', token],
      ['POST', '/console/name', { session }],
    ] as const) {
      const { status, body } = await request(method, address, by);
      expect([address, status, body.code]).toEqual([address, 409, 'read_only']);
    }
  });

  it('the folder of an opened organization file is deleted when the program ends', async () => {
    expect(folders()).toHaveLength(1);
    const ended = once(program, 'exit');
    // Ctrl-C reaches the program twice if npm has started it: from the terminal, and from npm.
    for (const signal of ['SIGINT', 'SIGINT'] as const) program.kill(signal);
    expect([await ended, folders()]).toEqual([[0, null], []]);
  });
});

describe('Organization files that cannot be opened', () => {
  // The account of the embedded database can enter the folder.
  beforeAll(() => chmodSync(top, 0o711));

  it('opening an organization file can be interrupted, which deletes its folder and reports no error', async () => {
    const interrupted = startOpening(file, secret, top);
    const text = textOf(interrupted);
    await vi.waitFor(() =>
      expect(folders().map((name) => existsSync(path.join(top, name, 'database/data/postmaster.pid')))).toEqual([true]),
    );
    for (const signal of ['SIGTERM', 'SIGTERM'] as const) interrupted.kill(signal);
    expect([await text, interrupted.exitCode, folders()]).toEqual(['', 130, []]);
  });

  it('an organization file that cannot be opened is refused with the reason, and its folder is deleted', async () => {
    const refused = startOpening(file, 'x'.repeat(20), top);
    expect(await textOf(refused)).toBe(
      'the file was written with a key of 32 bytes in base64, not with a passphrase\n',
    );
    expect([refused.exitCode, folders()]).toEqual([1, []]);
  });
});
