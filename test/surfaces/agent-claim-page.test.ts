// The page on which a person completes or denies the claim of an agent, over real HTTP (docs/contract.md#claim-page).
import { afterAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { openAgentWorld, otherCode } from '../support/agent-world.ts';
import { createProject } from '../support/callers.ts';
import { oauthError } from '../support/oauth-world.ts';

const world = await openAgentWorld();
afterAll(() => world.close());

const wrongCodes = async (registrationId: string): Promise<number> =>
  (await world.knex('claim_attempts').where({ registrationId, supersededAt: null }).first()).wrongCount;
const repeated = Array.from({ length: 6 }, (_, i) => i + 1);

describe('The form that completes a claim', () => {
  it('403 · another person sees no claim form, uses up none of the tries, and cannot deny the claim', async () => {
    const [bob, mallory] = [await world.human(), await world.human()];
    const { agent, ceremony } = await world.begun(bob);
    const page = await world.openPage(mallory, ceremony);
    expect([page.status, page.body.includes('name="user_code"'), page.body.includes(bob.person.email)]).toEqual([
      403,
      false,
      false,
    ]);
    expect((await world.decide(mallory, ceremony)).status).toBe(403);
    for (let n = 1; n <= 6; n++) {
      expect((await world.decide(mallory, ceremony, { code: otherCode(ceremony.user_code) })).status).toBe(403);
    }
    expect((await world.decide(mallory, ceremony, { decision: 'deny' })).status).toBe(403);
    expect(await wrongCodes(agent.registration_id)).toBe(0);
    expect((await world.decide(bob, ceremony)).status).toBe(200);
  });

  it.each(['//evil.example/claim', '/\\evil.example/claim', 'https://evil.example/claim'])(
    '303 · sign-in does not redirect to another site: %s',
    async (target) => {
      const bob = await world.human();
      const answer = await world.request('GET', `/sign-in?return_to=${encodeURIComponent(target)}`, {
        session: bob.session,
      });
      expect(answer.status).toBe(303);
      expect(new URL(answer.headers.get('location')!, world.url).origin).toBe(world.url);
    },
  );

  it('403 · a claim form without its token, with the token of another session, or from another site is refused', async () => {
    const [bob, mallory] = [await world.human(), await world.human()];
    const { agent, ceremony } = await world.begun(bob);
    expect((await world.decide(bob, ceremony, { csrf: '' })).status).toBe(403);
    expect((await world.decide(bob, ceremony, { csrf: mallory.session.csrf })).status).toBe(403);
    const foreign = await world.request('POST', '/claim/complete', {
      headers: {
        cookie: `session=${bob.session.secret}`,
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        csrf_token: bob.session.csrf,
        claim_attempt_token: world.tokenOf(ceremony),
        decision: 'deny',
      }).toString(),
    });
    expect(foreign.status).toBe(403);
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('authorization_pending'));
  });

  it('200 · a tampered claim form cannot grant scopes beyond the person’s role', async () => {
    const viewer = await world.human(undefined, 'viewer');
    const scopes = ['missions:read', 'missions:run', 'members:write', 'runtime:report', 'no:such'];
    const { access_token, scope } = await world.claimed(viewer, { scopes });
    expect(scope).toBe('missions:read');
    expect((await world.me(access_token)).body.scopes).toEqual(['missions:read']);
  });

  it('400 · a claim form without a scope or with another invalid value is refused, does not count as an attempt and claims nothing', async () => {
    const [bob, stranger] = [await world.human(undefined, 'member'), await world.human()];
    const { ceremony } = await world.begun(bob);
    const projectId = await createProject(world, stranger, 'Theirs', {
      repoFullName: 'their/own',
    });
    const tries: [object, number][] = [
      [{ scopes: [] }, 400],
      [{ scopes: ['billing:write'] }, 400],
      [{ days: 0 }, 400],
      [{ days: 366 }, 400],
      [{ days: 'soon' }, 400],
      [{ decision: 'perhaps' }, 400],
      [{ orgId: stranger.organization.id }, 404],
      [{ projectId }, 404],
      [{ projectId: 'prj_\0' }, 400],
    ];
    for (const [choice, status] of tries)
      expect([choice, (await world.decide(bob, ceremony, choice)).status]).toEqual([choice, status]);
    expect((await world.decide(bob, ceremony)).status).toBe(200);
  });

  it('200 · the existing token of an agent loses scopes at once when the person who claimed the agent loses the role', async () => {
    const bob = await world.human(undefined, 'member');
    const { access_token } = await world.claimed(bob, { scopes: ['missions:read', 'missions:run'] });
    await world.knex('memberships').where({ userId: bob.person.id }).update({ role: 'viewer' });
    expect((await world.me(access_token)).body.scopes).toEqual(['missions:read']);
    await world.knex('memberships').where({ userId: bob.person.id }).delete();
    expect((await world.me(access_token)).status).toBe(401);
  });

  it('200 · an agent bound to a project loses access when the project is deleted', async () => {
    const bob = await world.human();
    const projectId = await createProject(world, bob, 'Shop', { repoFullName: 'our/shop' });
    const { access_token, identity_assertion } = await world.claimed(bob, { projectId });
    expect((await world.me(access_token)).body.projectId).toBe(projectId);
    await world.rest('DELETE', `/projects/${projectId}`, { session: bob.session });
    expect((await world.me(access_token)).status).toBe(401);
    expect((await world.exchange(identity_assertion)).body).toEqual(oauthError('invalid_grant'));
  });

  it.each(repeated)(
    'one of two concurrent completions with the right code succeeds, the other gets 409 (%i)',
    async () => {
      const bob = await world.human();
      const { ceremony } = await world.begun(bob);
      const both = await Promise.all([world.decide(bob, ceremony), world.decide(bob, ceremony)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    },
  );

  it.each(repeated)(
    'only five of twelve concurrent wrong codes are checked, and the right code is refused afterwards (%i)',
    async () => {
      const bob = await world.human();
      const { agent, ceremony } = await world.begun(bob);
      const wrong = { code: otherCode(ceremony.user_code) };
      const tries = await Promise.all(Array.from({ length: 12 }, () => world.decide(bob, ceremony, wrong)));
      expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401, 410]));
      expect((await world.decide(bob, ceremony)).status).toBe(410);
      expect(await wrongCodes(agent.registration_id)).toBe(5);
    },
  );

  it.each(repeated)('exactly one of a concurrent approval and denial of a claim takes effect (%i)', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const [yes, no] = await Promise.all([
      world.decide(bob, ceremony),
      world.decide(bob, ceremony, { decision: 'deny' }),
    ]);
    const isClaimed = yes.status === 200;
    expect([yes.status, no.status]).toEqual(isClaimed ? [200, 409] : [410, 200]);
    const poll = await world.poll(agent.claim_token);
    expect(poll.status === 200 || poll.body.error).toBe(isClaimed || 'access_denied');
  });

  it('401 · the code of another agent does not complete a claim', async () => {
    const bob = await world.human();
    const [a, b] = [await world.begun(bob), await world.begun(bob)];
    if (a.ceremony.user_code === b.ceremony.user_code) return;
    expect((await world.decide(bob, a.ceremony, { code: b.ceremony.user_code })).status).toBe(401);
  });

  it('200 · the claim page cannot be framed or cached and sends no referrer; markup in the agent’s name has no effect', async () => {
    const bob = await world.human();
    const agent_name = '<script>alert(1)</script>"onload="x';
    const { body: agent } = await world.identity({ type: 'service_auth', login_hint: bob.person.email, agent_name });
    const page = await world.openPage(bob, agent.claim);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    expect(page.body).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload=&quot;x</bdi>');
    expect(page.body).not.toContain('<script>alert');
  });

  it('200 · the claim page shows the agent’s origin, and selects more scopes for an agent of a trusted provider than for an unknown one', async () => {
    const bob = await world.human();
    const page = async (ceremony: { verification_uri: string }) => (await world.openPage(bob, ceremony)).body as string;
    const hinted = await world.identity({ type: 'service_auth', login_hint: bob.person.email });
    expect(await page(hinted.body.claim)).not.toContain('value="missions:run" checked');
    const { body } = await world.present(world.provider.sign(world.provider.claimsOf({ email: bob.person.email })));
    expect(await page(body.claim)).toContain('value="missions:run" checked');
    await world
      .knex('claimAttempts')
      .where({ registrationId: body.registration_id })
      .update({ address: '203.0.113.5' });
    expect(await page(body.claim)).toContain('<dt>Network address</dt><dd>203.0.113.5</dd>');
    // A row written by a release that did not store the address.
    await world.knex('claimAttempts').where({ registrationId: body.registration_id }).update({ address: null });
    expect(await page(body.claim)).toContain('<dt>Network address</dt><dd>Unknown</dd>');
  });

  it('400 · a claim with more scopes than a credential may have is refused, and does not count as an attempt', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const scopes = catalog.slice(0, 26).map(({ scope }) => scope);
    const answer = await world.decide(bob, ceremony, { scopes });
    expect([answer.status, answer.body.includes('scopes: must be at most 25 entries.')]).toEqual([400, true]);
    expect(await wrongCodes(agent.registration_id)).toBe(0);
    expect((await world.decide(bob, ceremony, { scopes: scopes.slice(0, 25) })).status).toBe(200);
  });

  it('404 · a claim page with an unknown or missing claim id is not found', async () => {
    const bob = await world.human();
    for (const path of ['/claim?claim_attempt_token=cvt_unknown', '/claim']) {
      expect((await world.request('GET', path, { session: bob.session })).status).toBe(404);
    }
  });

  it('200 · the claim form can also be sent to the path that auth.md names; 405 · GET on that path is refused', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const path = '/v1/agent/identity/claim/complete';
    expect((await world.request('GET', path, { session: bob.session })).status).toBe(405);
    expect((await world.decide(bob, ceremony, { path })).status).toBe(200);
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('200 · a person without an organization is told to create one before a claim, and can deny the claim', async () => {
    const person = await world.person('newcomer');
    const newcomer = { person, organization: { id: 'org_none' } as never, session: await world.session(person) };
    const { agent, ceremony } = await world.begun(newcomer);
    const page = await world.openPage(newcomer, ceremony);
    expect([page.status, page.body.includes('You belong to no organization yet')]).toEqual([200, true]);
    expect((await world.decide(newcomer, ceremony, { decision: 'deny' })).status).toBe(200);
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('access_denied'));
  });

  it('200 · claim codes with leading zeros are accepted as shown', async () => {
    const bob = await world.human();
    for (;;) {
      const { ceremony } = await world.begun(bob);
      if (!ceremony.user_code.startsWith('0')) continue;
      const answer = await world.decide(bob, ceremony, { code: ceremony.user_code.replace(/^0+/, '') });
      expect(answer.status).toBe(401);
      expect((await world.decide(bob, ceremony)).status).toBe(200);
      return;
    }
  });

  it.each(repeated)(
    'if an unclaimed agent gets a token while a person completes its claim, the token is invalid after the claim (%i)',
    async () => {
      const bob = await world.human();
      const { agent, ceremony } = await world.begun(bob);
      const [, ...exchanges] = await Promise.all([
        world.decide(bob, ceremony),
        ...Array.from({ length: 3 }, () => world.exchange(agent.identity_assertion)),
      ]);
      for (const { status, body } of exchanges) {
        if (status === 200) expect((await world.me(body.access_token)).status).toBe(401);
        else expect(body).toEqual(oauthError('invalid_grant'));
      }
    },
  );
});
