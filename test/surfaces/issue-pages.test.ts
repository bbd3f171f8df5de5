// From a run to the page that its `issueUrl` points to: what the built-in tracker shows a person.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Organization } from '#domain/organizations/model.ts';
import type { Row } from '#foundation/base-model.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Row<Organization>;
let alice: Session;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  const owner = await world.person('Alice');
  acme = await world.found(owner, 'Acme');
  alice = await world.session(owner);
  token = await world.token(owner, acme);
});
afterAll(() => world.close());

/** Runs a mission by hand and gives its run. */
async function run(name: string): Promise<{ issueId: string; issueUrl: string }> {
  const repoFullName = `acme/${name.length}-${Math.abs(name.charCodeAt(0))}`;
  const { body: project } = await world.rest('POST', '/projects', { token, body: { name: 'Web Shop', repoFullName } });
  const schedule = { interval: 'daily', time: '09:00', timezone: 'Pacific/Auckland' };
  const { body: task } = await world.rest('POST', '/scheduled-tasks', {
    token,
    body: {
      projectId: project.id,
      name,
      prompt: 'Look <b>everywhere</b>.',
      triggers: [{ kind: 'schedule', schedule }],
    },
  });
  await world.rest('POST', `/scheduled-tasks/${task.id}/run`, { token });
  const { body: runs } = await world.rest('GET', `/scheduled-tasks/${task.id}/runs`, { token });
  return runs.data[0];
}

it('200 · the page of an issue says what the mission was asked, and what a person wrote stays text', async () => {
  const { issueUrl } = await run('Find dead code');
  expect(issueUrl.startsWith(`${world.url}/console/issues/iss_`)).toBe(true);
  const page = await world.request('GET', new URL(issueUrl).pathname, { session: alice });
  expect(page.status).toBe(200);
  expect(page.body).toContain('Find dead code');
  expect(page.body).toContain('WEBSHOP-1');
  expect(page.body).toContain('Look &lt;b&gt;everywhere&lt;/b&gt;.');
});

it('200 · the list names it, newest first', async () => {
  await run('Older');
  world.clock.turn(1_000);
  await run('Newer still');
  const { status, body } = await world.request('GET', '/console/issues', { session: alice });
  expect(status).toBe(200);
  expect(body.indexOf('Newer still')).toBeLessThan(body.indexOf('Older'));
  expect(body.indexOf('Newer still')).toBeGreaterThan(0);
});

it('404 · to another organization, and for an issue that there is not', async () => {
  const { issueId } = await run('Secret plan');
  const stranger = await world.person('Mallory');
  await world.found(stranger, 'Globex');
  const session = await world.session(stranger);
  expect((await world.request('GET', `/console/issues/${issueId}`, { session })).status).toBe(404);
  expect((await world.request('GET', '/console/issues', { session })).body).not.toContain('Secret plan');
  expect((await world.request('GET', '/console/issues/iss_none', { session: alice })).status).toBe(404);
});

it('303 · whoever is not signed in signs in first; 400 for a made-up cursor', async () => {
  const { status, headers } = await world.request('GET', '/console/issues');
  expect([status, headers.get('location')]).toEqual([303, '/sign-in?return_to=%2Fconsole%2Fissues']);
  expect((await world.request('GET', '/console/issues?cursor=x', { session: alice })).status).toBe(400);
});

it('200 · somebody without an organization is told what to do first', async () => {
  const session = await world.session(await world.person('Newcomer'));
  const { status, body } = await world.request('GET', '/console/issues', { session });
  expect([status, body.includes('<h1>Issues</h1>'), body.includes('Create organization')]).toEqual([200, true, true]);
});
