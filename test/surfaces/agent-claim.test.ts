// The claim ceremony over real HTTP: first as the story of one agent and its person, then every failure
// (docs/contract.md#claims; docs/contract.md#claim-page).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { days, hours, isoTime, minutes, seconds } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { type AgentWorld, openAgentWorld, otherCode } from '../support/agent-world.ts';
import { present } from '../support/world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});
afterAll(() => world.close());

const fault = (error: string) => ({ error, error_description: expect.any(String) });
const wrongCodes = async (registrationId: string): Promise<number> =>
  (await world.knex('claim_attempts').where({ registrationId, supersededAt: null }).first()).wrongCount;
const repeated = Array.from({ length: 6 }, (_, i) => i + 1);

describe('an agent registers itself, and its person claims it', () => {
  // One story in order: each test builds on the one before.
  const name = 'Release notes agent';
  let alice: Awaited<ReturnType<AgentWorld['human']>>;
  let agent: Record<string, string>;
  let early: string;
  let ceremony: { user_code: string; verification_uri: string };
  let collected: Record<string, string>;

  it('200 · registers with only a name', async () => {
    alice = await world.human('alice');
    agent = (await world.identity({ type: 'anonymous', agent_name: name })).body;
    early = (await world.exchange(agent.identity_assertion!)).body.access_token;
    expect((await world.me(early)).body.principalType).toBe('agent');
  });

  it('400 · polling before the claim starts is authorization_pending', async () => {
    const answer = await world.poll(agent.claim_token!);
    expect([answer.status, answer.body]).toEqual([400, fault('authorization_pending')]);
  });

  it('200 · starts a claim for an email address, and gets a six-digit code and a link for ten minutes', async () => {
    const answer = await world.startClaim({ claim_token: agent.claim_token, email: 'ALICE@example.com' });
    ceremony = answer.body.claim_attempt;
    const end = isoTime(present() + minutes(10));
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        registration_id: agent.registration_id,
        claim_attempt_id: expect.stringMatching(/^cla_/),
        status: 'initiated',
        expires_at: end,
        claim_attempt: {
          user_code: expect.stringMatching(/^\d{6}$/),
          verification_uri: expect.stringMatching(
            /^http:\/\/127\.0\.0\.1:\d+\/claim\?claim_attempt_token=cvt_[\w-]{32}$/,
          ),
          expires_in: 600,
          expires_at: end,
          interval: 5,
        },
      },
    ]);
  });

  it('303 · its person signs in and returns to the same page', async () => {
    const answer = await world.openPage(null, ceremony);
    const path = world.pathOf(ceremony);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(path)}`,
    ]);
  });

  it('200 · the page shows the agent, its address and the scopes, with only read scopes selected', async () => {
    const { status, body } = await world.openPage(alice, ceremony);
    expect(status).toBe(200);
    expect(body).toContain(`<bdi>${name}</bdi> <span class="muted small">unverified</span>`);
    expect(body).toContain('<dt>Network address</dt><dd>127.0.0.1</dd>');
    expect(body).toContain('This is the first agent on your account.');
    expect(body).toContain('Access to <strong>alice and company</strong>, as you (owner)');
    // No provider vouches for the agent, so only reading is ticked.
    const ticked = [...String(body).matchAll(/value="([^"]+)" checked/g)].map((match) => match[1]!);
    expect(ticked).toContain('missions:read');
    expect(ticked.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
    expect(body).toContain('value="missions:run"');
    expect(body).not.toContain(ceremony.user_code);
  });

  it('401 · a wrong code keeps the selected scopes', async () => {
    for (let n = 1; n <= 4; n++) {
      const answer = await world.decide(alice, ceremony, { code: otherCode(ceremony.user_code), days: 7 });
      expect(answer.status).toBe(401);
      expect(answer.body).toContain('That code doesn’t match.');
      expect(answer.body).toContain('value="missions:read" checked');
      expect(answer.body).not.toContain('value="missions:run" checked');
      expect(answer.body).toContain('<option value="7" selected>');
    }
  });

  it('200 · the fifth try with the right code, typed with a space, grants two scopes for 30 days', async () => {
    const { user_code } = ceremony;
    const code = `${user_code.slice(0, 3)} ${user_code.slice(3)}`;
    const answer = await world.decide(alice, ceremony, { code, scopes: ['missions:read', 'projects:read'], days: 30 });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('The agent has access.');
  });

  it('200 · the next poll returns a token with these scopes, and a new assertion of the same lifetime', async () => {
    const answer = await world.poll(agent.claim_token!);
    collected = answer.body;
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^agt_[\w-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'missions:read projects:read',
        identity_assertion: expect.any(String),
        assertion_expires: isoTime(present() + days(30)),
      },
    ]);
  });

  it('200 · the agent acts for the person within the granted scopes', async () => {
    const { body } = await world.me(collected.access_token!);
    expect(body).toMatchObject({
      principalType: 'user',
      userId: alice.person.id,
      orgId: alice.organization.id,
      role: 'owner',
    });
    expect(body.scopes).toEqual(['missions:read', 'projects:read']);
    expect((await world.rest('GET', '/projects', { token: collected.access_token! })).status).toBe(200);
  });

  it('400 · the claim token works once', async () => {
    const answer = await world.poll(agent.claim_token!);
    expect([answer.status, answer.body]).toEqual([400, fault('invalid_grant')]);
  });

  it('400, 401 · earlier credentials are invalid: the assertion is replaced, the token revoked', async () => {
    expect((await world.exchange(agent.identity_assertion!)).body).toEqual(fault('invalid_grant'));
    expect((await world.me(early)).status).toBe(401);
  });

  it('200 · the new assertion returns tokens repeatedly; 403 names a missing scope', async () => {
    const first = await world.exchange(collected.identity_assertion!);
    const second = await world.exchange(collected.identity_assertion!);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body).toEqual({
      access_token: expect.stringMatching(/^agt_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'missions:read projects:read',
    });
    const answer = await world.rest('GET', '/integrations', { token: second.body.access_token });
    expect(answer.status).toBe(403);
    expect(answer.body.description).toContain('missing-scope:integrations:read');
  });

  it('200 and 409 · the page and the claim endpoint say that the claim is complete', async () => {
    const page = await world.openPage(alice, ceremony);
    expect([page.status, page.body.includes('is already claimed')]).toEqual([200, true]);
    const again = await world.startClaim({ claim_token: agent.claim_token, email: 'alice@example.com' });
    expect([again.status, again.body]).toEqual([409, fault('claimed_or_in_flight')]);
    expect((await world.decide(alice, ceremony)).status).toBe(409);
  });

  it('400, 401 · assertion and token end after 30 days', async () => {
    const last = await world.exchange(collected.identity_assertion!);
    world.clock.turn(days(30) - minutes(30));
    const shorter = await world.exchange(collected.identity_assertion!);
    expect(shorter.body.expires_in).toBe(1800);
    world.clock.turn(minutes(30));
    expect((await world.exchange(collected.identity_assertion!)).body).toEqual(fault('invalid_grant'));
    expect((await world.me(shorter.body.access_token)).status).toBe(401);
    expect((await world.me(last.body.access_token)).status).toBe(401);
  });
});

describe('starting a claim', () => {
  it('200 · starting again creates a new code and link, and ends the old ones', async () => {
    const bob = await world.human();
    const { agent, ceremony, attemptId } = await world.begun(bob);
    const second = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect(second.body.claim_attempt_id).not.toBe(attemptId);
    expect((await world.openPage(bob, ceremony)).status).toBe(404);
    expect((await world.decide(bob, ceremony)).status).toBe(404);
    const crossed = { ...second.body.claim_attempt, user_code: ceremony.user_code };
    if (ceremony.user_code !== second.body.claim_attempt.user_code) {
      expect((await world.decide(bob, crossed)).status).toBe(401);
    }
    expect((await world.decide(bob, second.body.claim_attempt)).status).toBe(200);
  });

  it('401 · rejects an unknown token, with a challenge', async () => {
    const answer = await world.startClaim({ claim_token: 'clm_unknown', email: 'a@example.com' });
    expect([answer.status, answer.body]).toEqual([401, fault('invalid_claim_token')]);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^AgentAuth error="invalid_claim_token", error_description="[^"]+", Bearer resource_metadata="http[^"]+"$/,
    );
  });

  it.each([
    ['an empty token', { claim_token: '', email: 'a@example.com' }, 'claim_token: must be at least 1 character.'],
    [
      'a token of 201 characters',
      { claim_token: 'c'.repeat(201), email: 'a@example.com' },
      'claim_token: must be at most 200 characters.',
    ],
    ['no token', { email: 'a@example.com' }, 'claim_token: is required.'],
    ['no address', { claim_token: 'clm_x' }, 'email: is required.'],
    ['an empty address', { claim_token: 'clm_x', email: '' }, 'email: must be at least 1 character.'],
    [
      'an address of 321 characters',
      { claim_token: 'clm_x', email: 'a'.repeat(321) },
      'email: must be at most 320 characters.',
    ],
    ['no email address', { claim_token: 'clm_x', email: 'nobody' }, 'email: must be an email address.'],
    ['a NUL', { claim_token: 'clm_\0', email: 'a@example.com' }, 'claim_token: must be text without NUL characters.'],
    ['a number', { claim_token: 7, email: 'a@example.com' }, 'claim_token: must be a string.'],
    ['a list', [], 'The body must be a JSON object.'],
  ])('400 · refuses %s', async (_what, body, description) => {
    const answer = await world.startClaim(body);
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request', error_description: description }]);
  });

  it('200 · accepts login_hint for email, and ignores unknown members', async () => {
    const agent = await world.anonymous();
    const body = { claim_token: agent.claim_token, login_hint: 'carol@example.com', type: 'anonymous' };
    expect((await world.startClaim(body)).status).toBe(200);
  });

  it('410 · is refused after 24 hours, when the code expires too', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(4));
    const late = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect(late.body.claim_attempt.expires_in).toBe(240);
    world.clock.turn(minutes(4));
    const answer = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect([answer.status, answer.body]).toEqual([410, fault('claim_expired')]);
    expect((await world.openPage(bob, late.body.claim_attempt)).status).toBe(410);
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('expired_token'));
  });

  it('400 · rejects another address than the agent was registered for; 200 · accepts another letter case', async () => {
    const { body: agent } = await world.identity({ type: 'service_auth', login_hint: 'Dave@Example.com' });
    const other = await world.startClaim({ claim_token: agent.claim_token, email: 'eve@example.com' });
    expect([other.status, other.body]).toEqual([400, fault('email_mismatch')]);
    expect((await world.startClaim({ claim_token: agent.claim_token, email: 'dAVE@example.com' })).status).toBe(200);
  });

  it('429 · allows ten codes in an hour, because each gives five more guesses', async () => {
    const agent = await world.anonymous();
    const ask = () => world.startClaim({ claim_token: agent.claim_token, email: 'f@example.com' });
    for (let n = 1; n <= 10; n++) expect((await ask()).status).toBe(200);
    world.clock.turn(minutes(50));
    const answer = await ask();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '600']);
    expect(answer.body).toMatchObject({
      error: 'rate_limited',
      code: 'rate_limited',
      category: 'rate_limit',
      retryable: true,
    });
    world.clock.turn(minutes(10));
    expect((await ask()).status).toBe(200);
  });

  it.each(repeated)('two concurrent starts leave one working attempt (%i)', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    const start = () => world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    const both = await Promise.all([start(), start()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const pages = await Promise.all(both.map(({ body }) => world.openPage(bob, body.claim_attempt)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404]);
  });
});

describe('polling a claim', () => {
  it('400 · gets authorization_pending, at most every five seconds', async () => {
    const { agent } = await world.begun(await world.human());
    for (let n = 1; n <= 3; n++) {
      expect((await world.poll(agent.claim_token)).body).toEqual(fault('authorization_pending'));
      world.clock.turn(seconds(5));
    }
  });

  it('400 · gets slow_down for an early poll, which adds five seconds to the interval', async () => {
    const { agent } = await world.begun(await world.human());
    const poll = async () => (await world.poll(agent.claim_token)).body.error;
    expect([await poll(), await poll()]).toEqual(['authorization_pending', 'slow_down']);
    world.clock.turn(seconds(6));
    expect(await poll()).toBe('slow_down');
    world.clock.turn(seconds(15));
    expect(await poll()).toBe('authorization_pending');
  });

  it('a poll may be half a second early; a new code resets the interval', async () => {
    const { agent } = await world.begun(await world.human());
    const poll = async () => (await world.poll(agent.claim_token)).body.error;
    await poll();
    world.clock.turn(4_500);
    expect(await poll()).toBe('authorization_pending');
    expect(await poll()).toBe('slow_down');
    await world.startClaim({ claim_token: agent.claim_token, email: 'g@example.com' });
    expect(await poll()).toBe('authorization_pending');
    world.clock.turn(seconds(5));
    expect(await poll()).toBe('authorization_pending');
  });

  it.each(repeated)('one of two concurrent polls gets authorization_pending, the other slow_down (%i)', async () => {
    const { agent } = await world.begun(await world.human());
    const both = await Promise.all([world.poll(agent.claim_token), world.poll(agent.claim_token)]);
    expect(both.map(({ body }) => body.error).sort()).toEqual(['authorization_pending', 'slow_down']);
  });

  it('400 · gets expired_token after ten minutes, and authorization_pending again after a new code', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    world.clock.turn(minutes(10));
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('expired_token'));
    expect((await world.openPage(bob, ceremony)).status).toBe(410);
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('authorization_pending'));
  });

  it('410 · five wrong codes lock the attempt on the page and for polls; a new attempt works', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const wrong = () => world.decide(bob, ceremony, { code: otherCode(ceremony.user_code) });
    for (let n = 1; n <= 4; n++) expect((await wrong()).status).toBe(401);
    const fifth = await wrong();
    expect([fifth.status, fifth.body.includes('locked after five wrong codes')]).toEqual([410, true]);
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('expired_token'));
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.decide(bob, body.claim_attempt)).status).toBe(200);
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('400 · gets access_denied once the person has denied the claim, which needs no code; the agent may start again', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const denied = await world.decide(bob, ceremony, { decision: 'deny', code: '' });
    expect([denied.status, denied.body.includes('The agent gets no access')]).toEqual([200, true]);
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('access_denied'));
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('authorization_pending'));
  });

  it('400 · gets invalid_grant for an unknown claim token, and invalid_request without one', async () => {
    expect((await world.poll('clm_garbage')).body).toEqual(fault('invalid_grant'));
    expect((await world.poll('')).body).toEqual(fault('invalid_request'));
  });

  it('200 · another vendor’s grant type is accepted; 400 · invalid_target for a resource that is not for agents', async () => {
    const { agent } = await world.begun(await world.human());
    const other = { grant_type: 'urn:acme:agent-auth:grant-type:claim', claim_token: agent.claim_token };
    expect((await world.grant(other)).body).toEqual(fault('authorization_pending'));
    for (const resource of [`${world.url}/a2a`, 'https://elsewhere.example', `${world.url}#part`]) {
      expect((await world.poll(agent.claim_token, { resource })).body).toEqual(fault('invalid_target'));
    }
  });

  it('200 · a claim completed in its last minute can be collected nine minutes later', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(2));
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    world.clock.turn(minutes(1));
    expect((await world.decide(bob, body.claim_attempt)).status).toBe(200);
    world.clock.turn(minutes(9));
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('400 · gets expired_token ten minutes after the claim was completed in its last minute', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(2));
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    world.clock.turn(minutes(1));
    await world.decide(bob, body.claim_attempt);
    world.clock.turn(minutes(10));
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('expired_token'));
  });

  it.each(repeated)('exactly one of two concurrent polls after completion answers 200 (%i)', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    await world.decide(bob, ceremony);
    const polls = await Promise.all(Array.from({ length: 4 }, () => world.poll(agent.claim_token)));
    expect(polls.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(polls.filter(({ status }) => status === 400).map(({ body }) => body.error)).toEqual(
      Array(3).fill('invalid_grant'),
    );
    const [row] = await sql<{ tokens: number }>(
      'select count(*) as tokens from access_tokens where registration_id = $1 and revoked_at is null',
      [agent.registration_id],
    );
    expect(row!.tokens).toBe(1);
  });

  it('400 · gets invalid_grant when the person has left the organization between approval and poll', async () => {
    const bob = await world.human(undefined, 'member');
    const { agent, ceremony } = await world.begun(bob);
    await world.decide(bob, ceremony);
    await world.knex('memberships').where({ userId: bob.person.id }).delete();
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('invalid_grant'));
  });
});

describe('completing a claim', () => {
  it('403 · another person sees no form, and neither uses up a try nor denies the claim', async () => {
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
    '303 · sign-in does not redirect to %s',
    async (target) => {
      const bob = await world.human();
      const answer = await world.request('GET', `/sign-in?return_to=${encodeURIComponent(target)}`, {
        session: bob.session,
      });
      expect(answer.status).toBe(303);
      expect(new URL(answer.headers.get('location')!, world.url).origin).toBe(world.url);
    },
  );

  it('403 · is refused without the form token, with that of another session, and from another site', async () => {
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
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('authorization_pending'));
  });

  it('200 · scopes beyond the role that a tampered form adds are not granted', async () => {
    const viewer = await world.human(undefined, 'viewer');
    const scopes = ['missions:read', 'missions:run', 'members:write', 'runtime:report', 'no:such'];
    const { access_token, scope } = await world.claimed(viewer, { scopes });
    expect(scope).toBe('missions:read');
    expect((await world.me(access_token)).body.scopes).toEqual(['missions:read']);
  });

  it('400 · is refused when no scope is left, or the rest of the form is invalid; no try is counted, nothing is claimed', async () => {
    const [bob, stranger] = [await world.human(undefined, 'member'), await world.human()];
    const { ceremony } = await world.begun(bob);
    const project = await world.rest('POST', '/projects', {
      session: stranger.session,
      body: { name: 'Theirs', repoFullName: 'their/own' },
    });
    const tries: [object, number][] = [
      [{ scopes: [] }, 400],
      [{ scopes: ['billing:write'] }, 400],
      [{ days: 0 }, 400],
      [{ days: 366 }, 400],
      [{ days: 'soon' }, 400],
      [{ decision: 'perhaps' }, 400],
      [{ orgId: stranger.organization.id }, 404],
      [{ projectId: project.body.id }, 404],
      [{ projectId: 'prj_\0' }, 400],
    ];
    for (const [choice, status] of tries)
      expect([choice, (await world.decide(bob, ceremony, choice)).status]).toEqual([choice, status]);
    expect((await world.decide(bob, ceremony)).status).toBe(200);
  });

  it('200 · losing the role later narrows the same token at once', async () => {
    const bob = await world.human(undefined, 'member');
    const { access_token } = await world.claimed(bob, { scopes: ['missions:read', 'missions:run'] });
    await world.knex('memberships').where({ userId: bob.person.id }).update({ role: 'viewer' });
    expect((await world.me(access_token)).body.scopes).toEqual(['missions:read']);
    await world.knex('memberships').where({ userId: bob.person.id }).delete();
    expect((await world.me(access_token)).status).toBe(401);
  });

  it('200 · an agent bound to a project loses access when the project is deleted', async () => {
    const bob = await world.human();
    const { body: project } = await world.rest('POST', '/projects', {
      session: bob.session,
      body: { name: 'Shop', repoFullName: 'our/shop' },
    });
    const { access_token, identity_assertion } = await world.claimed(bob, { projectId: project.id });
    expect((await world.me(access_token)).body.projectId).toBe(project.id);
    await world.rest('DELETE', `/projects/${project.id}`, { session: bob.session });
    expect((await world.me(access_token)).status).toBe(401);
    expect((await world.exchange(identity_assertion)).body).toEqual(fault('invalid_grant'));
  });

  it.each(repeated)(
    'one of two parallel completions with the right code succeeds, the other is a 409 (%i)',
    async () => {
      const bob = await world.human();
      const { ceremony } = await world.begun(bob);
      const both = await Promise.all([world.decide(bob, ceremony), world.decide(bob, ceremony)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    },
  );

  it.each(repeated)(
    'twelve concurrent wrong codes: five are compared, and the right one after them is refused (%i)',
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

  it.each(repeated)('concurrent approval and denial: one of them counts (%i)', async () => {
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

  it('401 · rejects the code of another agent', async () => {
    const bob = await world.human();
    const [a, b] = [await world.begun(bob), await world.begun(bob)];
    if (a.ceremony.user_code === b.ceremony.user_code) return;
    expect((await world.decide(bob, a.ceremony, { code: b.ceremony.user_code })).status).toBe(401);
  });

  it('200 · the page cannot be framed or cached and sends no referrer; markup in the agent’s name has no effect', async () => {
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

  it('200 · the page shows where an agent comes from; only read scopes are selected for an unknown agent, more for one of a trusted provider', async () => {
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
    // A row of a release that did not store the address.
    await world.knex('claimAttempts').where({ registrationId: body.registration_id }).update({ address: null });
    expect(await page(body.claim)).toContain('<dt>Network address</dt><dd>Unknown</dd>');
  });

  it('400 · rejects more scopes than one credential may hold; this does not count as an attempt', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const scopes = catalog.slice(0, 26).map(({ scope }) => scope);
    const answer = await world.decide(bob, ceremony, { scopes });
    expect([answer.status, answer.body.includes('scopes: must be at most 25 entries.')]).toEqual([400, true]);
    expect(await wrongCodes(agent.registration_id)).toBe(0);
    expect((await world.decide(bob, ceremony, { scopes: scopes.slice(0, 25) })).status).toBe(200);
  });

  it('404 · is refused for an unknown or missing claim id', async () => {
    const bob = await world.human();
    for (const path of ['/claim?claim_attempt_token=cvt_unknown', '/claim']) {
      expect((await world.request('GET', path, { session: bob.session })).status).toBe(404);
    }
  });

  it('200 · accepts the claim path of auth.md; 405 · refuses GET on it', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const path = '/v1/agent/identity/claim/complete';
    expect((await world.request('GET', path, { session: bob.session })).status).toBe(405);
    expect((await world.decide(bob, ceremony, { path })).status).toBe(200);
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('200 · a person without an organization is told to create one, and can deny', async () => {
    const person = await world.person('newcomer');
    const newcomer = { person, organization: { id: 'org_none' } as never, session: await world.session(person) };
    const { agent, ceremony } = await world.begun(newcomer);
    const page = await world.openPage(newcomer, ceremony);
    expect([page.status, page.body.includes('You belong to no organization yet')]).toEqual([200, true]);
    expect((await world.decide(newcomer, ceremony, { decision: 'deny' })).status).toBe(200);
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('access_denied'));
  });

  it('200 · codes with leading zeros are accepted as shown', async () => {
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
    'no token outlives the claim when the old assertion is exchanged at the same time (%i)',
    async () => {
      const bob = await world.human();
      const { agent, ceremony } = await world.begun(bob);
      const [, ...exchanges] = await Promise.all([
        world.decide(bob, ceremony),
        ...Array.from({ length: 3 }, () => world.exchange(agent.identity_assertion)),
      ]);
      for (const { status, body } of exchanges) {
        if (status === 200) expect((await world.me(body.access_token)).status).toBe(401);
        else expect(body).toEqual(fault('invalid_grant'));
      }
    },
  );
});
