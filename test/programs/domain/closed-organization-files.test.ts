// The operator packs a closed organization into a file. `open` shows it, even after the installation has erased the organization, but no
// installation joins it.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { eraseClosedOrganizations } from '#domain/lifecycle/closure/erase.ts';
import { settleClosures } from '#domain/lifecycle/closure/steps.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { days, isoTime } from '#foundation/clock.ts';
import { admin } from '../../support/command-line.ts';
import { temporaryHome } from '../../support/global-setup.ts';
import { linesOf, signInWith, startOpening } from '../../support/opened-file.ts';
import { databaseUrl } from '../../support/processes.ts';
import { type SampleOrganization, seedOrganization } from '../../support/sample-organization.ts';
import { openWorld, type World } from '../../support/world.ts';

const top = temporaryHome();
const file = path.join(top, 'acme.aep');
const secret = 'correct horse battery staple';

let world: World;
let sample: SampleOrganization;
let closedAt: number;
let program: ChildProcess | undefined;
let lines: Promise<string[]>;
const envOf = (folder: string, key: number) => {
  mkdirSync(path.join(top, folder), { recursive: true });
  return {
    DATABASE_URL: databaseUrl(world.connection),
    SECRET_KEY: Buffer.alloc(32, key).toString('base64'),
    STORAGE_URL: `file://${path.join(top, folder)}`,
  };
};
const close = () => {
  const { owner, organization } = sample;
  const body = { confirmSlug: organization.slug };
  return world
    .session(owner, organization.id)
    .then((session) => world.rest('POST', `/organizations/${organization.id}/closure`, { session, body }));
};

beforeAll(async () => {
  world = await openWorld();
  sample = await seedOrganization(world);
  closedAt = (await close()).body.closedAt;
  await settleMissions();
  await settleClosures();
});
afterAll(async () => {
  program?.kill('SIGKILL');
  await world.close();
  rmSync(top, { recursive: true, force: true });
});

it('`org:pack` writes the file of an organization whose closure is settled', async () => {
  const { slug, id } = sample.organization;
  const packed = await admin(['org:pack', '--org', slug, '--to', file], envOf('here', 7), secret);
  expect([packed.code, packed.stderr]).toEqual([0, '']);
  expect(JSON.parse(packed.stdout)).toMatchObject({ file, organization: { id, slug } });
  // The program is started here for the last test, because its database takes a while to start.
  program = startOpening(file, secret, top);
  lines = linesOf(program);
});

it('`org:join` refuses the file of a closed organization, names the day of the closure, and leaves nothing behind', async () => {
  const joined = await admin(['org:join', '--from', file], envOf('there', 9), secret);
  const day = isoTime(closedAt).slice(0, 10);
  expect([joined.code, joined.stderr.trim()]).toEqual([
    1,
    `the organization was closed on ${day}: a closed organization cannot be joined, but the command open shows it`,
  ]);
  expect(readdirSync(path.join(top, 'there'))).toEqual([]);
});

it('the organization file of a closed organization can still be opened after the installation has erased the organization', async () => {
  const { slug, id } = sample.organization;
  world.clock.turn(days(30));
  while ((await world.knex('billing_orders').where({ status: 'withdrawn', refundedAt: null })).length > 0)
    await sendRefunds();
  await eraseClosedOrganizations();
  expect(await world.knex('organizations').where({ id })).toEqual([]);
  const { visit, statuses, request, browser } = await signInWith(await lines);
  expect(statuses).toEqual([200, 303]);
  const account = await visit('/console/account');
  expect(account.body).toContain('<span class="tag">closed</span>');
  const closure = await visit(`/console/o/${slug}/closure`);
  expect(closure.body).toContain(`${sample.organization.name} is closed`);
  expect(closure.body).toContain('credits were forfeited');
  const page = await visit(`/console/o/${slug}/inbox`);
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('<span class="tag">read-only</span>')]);
  const session = { secret: browser.get('session')!, csrf: '' };
  const project = await request('GET', `/v1/projects/${sample.ids.projectId}`, { session });
  expect([project.status, project.body.orgId]).toEqual([200, id]);
});
