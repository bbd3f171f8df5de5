// A copy of the database gives no access: every kind of secret is created, used, and then searched for in every row of every table
// (docs/contract.md#tokens-and-resources). The tests of OAuth and of agents search for their own secrets.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { codeDigest } from '#foundation/secrets/secrets.ts';
import { createOwner } from './support/callers.ts';
import { rowsOf } from './support/database-rows.ts';
import { openWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Every secret that the service has just issued, by name. */
async function giveOut(): Promise<Record<string, string>> {
  const { person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme');
  const session = await world.session(alice);
  const body = { name: 'Reports', scopes: ['projects:read'] };
  const headers = { 'idempotency-key': 'one token please' };
  const made = await world.rest('POST', '/tokens', { session, body, headers });
  const again = await world.rest('POST', '/tokens', { session, body, headers });
  expect(again.body).toEqual(made.body);
  await world.rest('GET', '/projects', { token: made.body.token });
  const link = await createSignInLink('alice@example.com');
  await world.request('POST', '/sign-in', {
    body: 'email=alice@example.com',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  });
  await connectIntegration({
    orgId: acme.id,
    vendor: 'linear',
    vendorKind: 'tracker',
    displayName: 'Linear',
    credentials: 'lin_api_VeryMuchSecret',
  });
  return {
    'a personal access token, also behind its idempotency key': made.body.token,
    'a session': session.secret,
    'a sign-in link': new URL(link).searchParams.get('token')!,
    'a service token': await world.service(),
    'what a vendor asks for': 'lin_api_VeryMuchSecret',
  };
}

it('no row contains an issued secret, or a plain digest of a short code, which could be reversed', async () => {
  const secrets = await giveOut();
  const dump = (await rowsOf(world.knex)).join('\n');
  expect(dump.length).toBeGreaterThan(1_000);
  for (const [name, secret] of Object.entries(secrets)) {
    const bare = secret.replace(/^[a-z]{3}_/, '');
    const spellings = [secret, bare, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')];
    expect([name, spellings.filter((spelling) => dump.includes(spelling))]).toEqual([name, []]);
  }
  // The email with the code is among the rows, as a waiting job.
  expect(await world.knex('background.job').where({ name: 'mail' })).toHaveLength(1);
  await world.delivered();
  const code = /\b\d{6}\b/.exec(developmentMailbox()!.find(({ text }) => /\b\d{6}\b/.test(text))!.text)![0];
  expect(dump.match(new RegExp(`(?<!\\w)${code}(?!\\w)`))).toBe(null);
  expect(dump).not.toContain('Your sign-in code');
  for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512']) {
    expect(dump).not.toContain(createHash(algorithm).update(code).digest('hex'));
  }
  expect(codeDigest('another purpose', code).toString('hex')).not.toBe(codeDigest('sign-in', code).toString('hex'));
});
