// The caller that a token identifies: its scopes change with the role of the person, and the token can expire or be revoked
// (docs/contract.md#personal-access-tokens). Other tests use the tokens of internal services.
import { afterAll, describe, expect, it, vi } from 'vitest';
import { lastUsedIntervalMs } from '#domain/identity/credentials/last-used.ts';
import { callerOfToken } from '#domain/identity/tokens/operations.ts';
import {
  callerOfServiceToken,
  createServiceToken,
  revokeServiceToken,
} from '#domain/identity/tokens/service-tokens.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { createProject } from '../support/callers.ts';
import { openTokenWorld } from '../support/token-world.ts';
import { present } from '../support/world.ts';

const { world, acme, alice, ownerToken, projectId, create, list, revoke, member, close } = await openTokenWorld();
afterAll(close);

describe('callers with an access token', () => {
  it('a token identifies the person who holds it, in one organization, with the granted scopes that the current role includes', async () => {
    const { person } = await member('member');
    const token = await world.token(person, acme, { scopes: ['projects:read', 'missions:run'], projectId });
    expect(await callerOfToken(token)).toEqual({
      principalType: 'user',
      credentialId: expect.stringMatching(/^tok_/),
      userId: person.id,
      orgId: acme.id,
      role: 'member',
      scopes: new Set(['projects:read', 'missions:run']),
      projectId,
      isOrgOnly: false,
    });
  });

  it('a token’s caller is read from the database in one statement', async () => {
    const token = await world.token(alice, acme);
    await callerOfToken(token);
    await vi.waitFor(async () => expect(await lastUse(token)).not.toBeNull());
    const statements: string[] = [];
    const stop = watchStatements((statement) => statements.push(statement));
    await callerOfToken(token);
    stop();
    expect(statements).toHaveLength(1);
  });

  it('a token loses scopes when the person’s role changes, and regains them with the earlier role', async () => {
    const { person } = await member('admin');
    const token = await world.token(person, acme, { scopes: ['projects:write', 'projects:read'] });
    const scopes = async () => [...(await callerOfToken(token))!.scopes];
    expect(await scopes()).toEqual(['projects:write', 'projects:read']);
    await world.knex('memberships').where({ userId: person.id }).update({ role: 'viewer' });
    expect(await scopes()).toEqual(['projects:read']);
    await world.knex('memberships').where({ userId: person.id }).update({ role: 'owner' });
    expect(await scopes()).toEqual(['projects:write', 'projects:read']);
  });

  it('401 · the token of a person who has left the organization no longer works', async () => {
    const { person } = await member('admin');
    const token = await world.token(person, acme);
    await world.knex('memberships').where({ userId: person.id }).delete();
    expect(await callerOfToken(token)).toBeNull();
    expect((await world.rest('GET', '/me', { token })).status).toBe(401);
  });

  it('401 · a token is refused from the exact millisecond in which it expires', async () => {
    const { body: made } = await create({ name: 'Day', expiresInDays: 1 });
    world.clock.turn(days(1) - 1);
    expect(await callerOfToken(made.token)).not.toBeNull();
    world.clock.turn(1);
    expect(await callerOfToken(made.token)).toBeNull();
    expect((await world.rest('GET', '/me', { token: made.token })).status).toBe(401);
  });

  it('401 · a token of a deleted project is invalid and stays listed as revoked; revoking it returns already-revoked', async () => {
    const doomed = await createProject(world, { token: ownerToken }, 'Doomed');
    const { body: made } = await create({ name: 'Doomed', scopes: ['projects:read'], projectId: doomed });
    const other = await world.token(alice, acme, { scopes: ['projects:read'], projectId });
    world.clock.turn(minutes(1));
    await world.rest('DELETE', `/projects/${doomed}`, { token: ownerToken });
    const revokedAt = present();
    expect(await callerOfToken(made.token)).toBeNull();
    expect(await callerOfToken(other)).not.toBeNull();
    const listed = (await list()).body.data.find(({ id }: { id: string }) => id === made.id);
    expect(listed).toMatchObject({ projectId: doomed, revokedAt });
    world.clock.turn(minutes(1));
    expect((await revoke(made.id)).body).toEqual({ kind: 'already-revoked', tokenId: made.id, revokedAt });
  });

  it('401 · a token ends with its project, even when an older release, which does not revoke the token, deletes the project', async () => {
    const doomed = await createProject(world, { token: ownerToken }, 'Doomed too');
    const token = await world.token(alice, acme, { scopes: ['projects:read'], projectId: doomed });
    await world.knex('projects').where({ id: doomed }).delete();
    expect(await callerOfToken(token)).toBeNull();
  });

  it.each(['', 'pat_', 'pat_wrong', 'nonsense', `pat_${'x'.repeat(43)}`, 'pat_ü'])(
    'the text %j is not accepted as a token',
    async (secret) => {
      expect(await callerOfToken(secret)).toBeNull();
    },
  );

  const lastUse = async (token: string): Promise<number | null> =>
    (
      await world
        .knex('tokens')
        .where({ digest: digest(token) })
        .first()
    ).lastUsedAt;

  it('the last use of a token is stored to the minute, and two hundred concurrent uses cause one write', async () => {
    const token = await world.token(alice, acme);
    const updates: string[] = [];
    const stop = watchStatements((statement) => statement.startsWith('update tokens') && updates.push(statement));
    const used = present();
    await Promise.all(Array.from({ length: 200 }, () => callerOfToken(token)));
    await vi.waitFor(async () => expect(await lastUse(token)).toBe(used));

    world.clock.turn(lastUsedIntervalMs - 1);
    await callerOfToken(token);
    expect(updates).toHaveLength(1);

    world.clock.turn(1);
    await callerOfToken(token);
    await vi.waitFor(async () => expect(await lastUse(token)).toBe(used + lastUsedIntervalMs));
    expect(updates).toHaveLength(2);
    stop();
    expect(await listed(token)).toBe(used + lastUsedIntervalMs);
  });

  const listed = async (token: string) => {
    const { id } = await world
      .knex('tokens')
      .where({ digest: digest(token) })
      .first();
    return (await list()).body.data.find((one: { id: string }) => one.id === id).lastUsedAt;
  };

  it('a request succeeds even if the use of its token cannot be recorded, and the next use is recorded', async () => {
    const token = await world.token(alice, acme);
    await world.knex.raw(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    );
    await world.knex.raw('create trigger refuse before update on tokens for each row execute function refuse()');
    const seen: string[] = [];
    const stop = watchStatements((statement) => seen.push(statement));
    expect((await world.rest('GET', '/me', { token })).status).toBe(200);
    await vi.waitFor(() => expect(seen.some((statement) => statement.startsWith('update tokens'))).toBe(true));
    stop();
    await world.knex.raw('drop function refuse cascade');
    await vi.waitFor(async () => {
      await callerOfToken(token);
      expect(await lastUse(token)).toBe(present());
    });
  });
});

describe('tokens of services', () => {
  it('a service token has no person, but has the one scope that no person can grant', async () => {
    const made = await createServiceToken({ name: 'runtime' });
    expect(made).toEqual({
      id: expect.stringMatching(/^svc_[0-9a-f]{32}$/),
      name: 'runtime',
      orgId: null,
      scopes: ['runtime:report'],
      createdAt: present(),
      token: expect.stringMatching(/^srv_[\w-]{43}$/),
    });
    expect(await callerOfServiceToken(made.token)).toEqual({
      principalType: 'service',
      credentialId: made.id,
      userId: null,
      orgId: null,
      role: null,
      scopes: new Set(['runtime:report']),
      projectId: null,
    });
    const [row] = await world.knex('service_tokens').where({ id: made.id });
    expect(row.digest).toEqual(digest(made.token));
  });

  it('a service token can belong to one organization, never expires, and ends at once when it is revoked', async () => {
    const { id, token } = await createServiceToken({ name: 'runtime', orgId: acme.id });
    world.clock.turn(days(400));
    expect((await callerOfServiceToken(token))?.orgId).toBe(acme.id);
    const revoked = await revokeServiceToken(id);
    expect(revoked).toEqual({ id, revokedAt: present() });
    expect(await callerOfServiceToken(token)).toBeNull();
    expect((await world.rest('GET', '/me', { token })).status).toBe(401);
    world.clock.turn(hours(1));
    expect(await revokeServiceToken(id)).toEqual(revoked);
    await expect(revokeServiceToken('svc_unknown')).rejects.toMatchObject({ status: 404 });
    expect(await callerOfServiceToken('srv_wrong')).toBeNull();
  });

  it('the last use of a service token is stored to the minute', async () => {
    const { id, token } = await createServiceToken({ name: 'runtime' });
    const lastUse = async () => (await world.knex('service_tokens').where({ id }).first()).lastUsedAt;
    await callerOfServiceToken(token);
    await vi.waitFor(async () => expect(await lastUse()).toBe(present()));
    world.clock.turn(seconds(59));
    await callerOfServiceToken(token);
    expect(await lastUse()).toBe(present() - seconds(59));
  });

  it('403 · a service token cannot list projects: the refusal names the missing scope', async () => {
    const token = await world.service();
    const { status, body } = await world.rest('GET', '/projects', { token });
    expect(status).toBe(403);
    expect(body.description).toContain('missing-scope:projects:read');
  });
});
