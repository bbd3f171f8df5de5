// Tests over real HTTP of the procedure in which a person claims an agent (docs/contract.md#claims). The first tests follow one agent and its
// person from the registration of the agent to the end of the claim. The other tests check the requests with which an agent starts a claim and
// polls for the result.
import { afterAll, describe, expect, it } from 'vitest';
import { days, hours, isoTime, minutes, seconds } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { type AgentWorld, openAgentWorld, otherCode } from '../support/agent-world.ts';
import { oauthError } from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

const world = await openAgentWorld();
afterAll(() => world.close());

const repeated = Array.from({ length: 6 }, (_, i) => i + 1);

describe('From the registration of an agent to its claim', () => {
  // The tests run in order, because each builds on the one before.
  const name = 'Release notes agent';
  let alice: Awaited<ReturnType<AgentWorld['human']>>;
  let agent: Record<string, string>;
  let early: string;
  let ceremony: { user_code: string; verification_uri: string };
  let collected: Record<string, string>;

  it('200 · an agent registers with only a name', async () => {
    alice = await world.human('alice');
    agent = (await world.identity({ type: 'anonymous', agent_name: name })).body;
    early = (await world.exchange(agent.identity_assertion!)).body.access_token;
    expect((await world.me(early)).body.principalType).toBe('agent');
  });

  it('400 · a poll before the claim has started is answered with authorization_pending', async () => {
    const answer = await world.poll(agent.claim_token!);
    expect([answer.status, answer.body]).toEqual([400, oauthError('authorization_pending')]);
  });

  it('200 · an agent starts a claim with an email address, and gets a six-digit code and a link for ten minutes', async () => {
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

  it('303 · a visitor of the claim page is sent to sign in, with the claim page as return address', async () => {
    const answer = await world.openPage(null, ceremony);
    const path = world.pathOf(ceremony);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(path)}`,
    ]);
  });

  it('200 · the claim page shows the agent, its network address and the scopes, of which only read scopes are selected', async () => {
    const { status, body } = await world.openPage(alice, ceremony);
    expect(status).toBe(200);
    expect(body).toContain(`<bdi>${name}</bdi> <span class="muted small">unverified</span>`);
    expect(body).toContain('<dt>Network address</dt><dd>127.0.0.1</dd>');
    expect(body).toContain('This is the first agent on your account.');
    expect(body).toContain('Access to <strong>alice and company</strong>, as you (owner)');
    // No provider vouches for the agent, so only read scopes are selected.
    const ticked = [...String(body).matchAll(/value="([^"]+)" checked/g)].map((match) => match[1]!);
    expect(ticked).toContain('missions:read');
    expect(ticked.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
    expect(body).toContain('value="missions:run"');
    expect(body).not.toContain(ceremony.user_code);
  });

  it('401 · after a wrong code, the claim page keeps the selected scopes and days', async () => {
    for (let n = 1; n <= 4; n++) {
      const answer = await world.decide(alice, ceremony, { code: otherCode(ceremony.user_code), days: 7 });
      expect(answer.status).toBe(401);
      expect(answer.body).toContain('That code doesn’t match.');
      expect(answer.body).toContain('value="missions:read" checked');
      expect(answer.body).not.toContain('value="missions:run" checked');
      expect(answer.body).toContain('<option value="7" selected>');
    }
  });

  it('200 · the right code, entered with a space and at the fifth try, claims the agent with two scopes for 30 days', async () => {
    const { user_code } = ceremony;
    const code = `${user_code.slice(0, 3)} ${user_code.slice(3)}`;
    const answer = await world.decide(alice, ceremony, { code, scopes: ['missions:read', 'projects:read'], days: 30 });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('The agent has access.');
  });

  it('200 · the next poll returns a token with the granted scopes, and a new assertion for 30 days', async () => {
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

  it('200 · a claimed agent acts for its person within the granted scopes', async () => {
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

  it('400 · a claim token that has been used is refused', async () => {
    const answer = await world.poll(agent.claim_token!);
    expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_grant')]);
  });

  it('400, 401 · the assertion and the token from before the claim are no longer valid', async () => {
    expect((await world.exchange(agent.identity_assertion!)).body).toEqual(oauthError('invalid_grant'));
    expect((await world.me(early)).status).toBe(401);
  });

  it('200 · the new assertion can be exchanged repeatedly; 403 · a call beyond the granted scopes names the missing one', async () => {
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

  it('200, 409 · the claim page says that the agent is claimed, and a second claim is refused', async () => {
    const page = await world.openPage(alice, ceremony);
    expect([page.status, page.body.includes('is already claimed')]).toEqual([200, true]);
    const again = await world.startClaim({ claim_token: agent.claim_token, email: 'alice@example.com' });
    expect([again.status, again.body]).toEqual([409, oauthError('claimed_or_in_flight')]);
    expect((await world.decide(alice, ceremony)).status).toBe(409);
  });

  it('400, 401 · the assertion and tokens of an agent expire 30 days after the claim', async () => {
    const last = await world.exchange(collected.identity_assertion!);
    world.clock.turn(days(30) - minutes(30));
    const shorter = await world.exchange(collected.identity_assertion!);
    expect(shorter.body.expires_in).toBe(1800);
    world.clock.turn(minutes(30));
    expect((await world.exchange(collected.identity_assertion!)).body).toEqual(oauthError('invalid_grant'));
    expect((await world.me(shorter.body.access_token)).status).toBe(401);
    expect((await world.me(last.body.access_token)).status).toBe(401);
  });
});

describe('Starting a claim', () => {
  it('200 · starting a claim again creates a new code and link, and ends the old ones', async () => {
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

  it('401 · an unknown claim token is refused with a challenge', async () => {
    const answer = await world.startClaim({ claim_token: 'clm_unknown', email: 'a@example.com' });
    expect([answer.status, answer.body]).toEqual([401, oauthError('invalid_claim_token')]);
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
    ['no email address', { claim_token: 'clm_x' }, 'email: is required.'],
    ['an empty email address', { claim_token: 'clm_x', email: '' }, 'email: must be at least 1 character.'],
    [
      'an email address of 321 characters',
      { claim_token: 'clm_x', email: 'a'.repeat(321) },
      'email: must be at most 320 characters.',
    ],
    [
      'a text that is not an email address',
      { claim_token: 'clm_x', email: 'nobody' },
      'email: must be an email address.',
    ],
    [
      'a NUL in the token',
      { claim_token: 'clm_\0', email: 'a@example.com' },
      'claim_token: must be text without NUL characters.',
    ],
    ['a number as token', { claim_token: 7, email: 'a@example.com' }, 'claim_token: must be a string.'],
    ['a list as body', [], 'The body must be a JSON object.'],
  ])('400 · a claim is not started with %s', async (_what, body, description) => {
    const answer = await world.startClaim(body);
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request', error_description: description }]);
  });

  it('200 · a claim can name the person by login_hint in place of email, and unknown fields of the request are ignored', async () => {
    const agent = await world.anonymous();
    const body = { claim_token: agent.claim_token, login_hint: 'carol@example.com', type: 'anonymous' };
    expect((await world.startClaim(body)).status).toBe(200);
  });

  it('410 · a claim cannot start 24 hours after registration, and the last claim code expires then', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(4));
    const late = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect(late.body.claim_attempt.expires_in).toBe(240);
    world.clock.turn(minutes(4));
    const answer = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect([answer.status, answer.body]).toEqual([410, oauthError('claim_expired')]);
    expect((await world.openPage(bob, late.body.claim_attempt)).status).toBe(410);
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('expired_token'));
  });

  it('400 · a claim with an email address other than the registered one is refused; 200 · letter case does not matter', async () => {
    const { body: agent } = await world.identity({ type: 'service_auth', login_hint: 'Dave@Example.com' });
    const other = await world.startClaim({ claim_token: agent.claim_token, email: 'eve@example.com' });
    expect([other.status, other.body]).toEqual([400, oauthError('email_mismatch')]);
    expect((await world.startClaim({ claim_token: agent.claim_token, email: 'dAVE@example.com' })).status).toBe(200);
  });

  it('429 · an agent can request ten claim codes in an hour, because each allows five more guesses', async () => {
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

  it.each(repeated)('only one of two concurrent starts of a claim leaves a working code (%i)', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    const start = () => world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    const both = await Promise.all([start(), start()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const pages = await Promise.all(both.map(({ body }) => world.openPage(bob, body.claim_attempt)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404]);
  });
});

describe('Polling a claim', () => {
  it('400 · a poll five seconds after the previous one is answered with authorization_pending', async () => {
    const { agent } = await world.begun(await world.human());
    for (let n = 1; n <= 3; n++) {
      expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('authorization_pending'));
      world.clock.turn(seconds(5));
    }
  });

  it('400 · an early poll is answered with slow_down, and adds five seconds to the interval', async () => {
    const { agent } = await world.begun(await world.human());
    const poll = async () => (await world.poll(agent.claim_token)).body.error;
    expect([await poll(), await poll()]).toEqual(['authorization_pending', 'slow_down']);
    world.clock.turn(seconds(6));
    expect(await poll()).toBe('slow_down');
    world.clock.turn(seconds(15));
    expect(await poll()).toBe('authorization_pending');
  });

  it('a poll may be half a second early, and a new claim code resets the interval', async () => {
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

  it('400 · ten minutes after the start of a claim, a poll gets expired_token; when the claim is started again, a poll gets authorization_pending', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    world.clock.turn(minutes(10));
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('expired_token'));
    expect((await world.openPage(bob, ceremony)).status).toBe(410);
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('authorization_pending'));
  });

  it('410 · after five wrong codes, the claim page and polls refuse the claim until it is started again', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const wrong = () => world.decide(bob, ceremony, { code: otherCode(ceremony.user_code) });
    for (let n = 1; n <= 4; n++) expect((await wrong()).status).toBe(401);
    const fifth = await wrong();
    expect([fifth.status, fifth.body.includes('locked after five wrong codes')]).toEqual([410, true]);
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('expired_token'));
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.decide(bob, body.claim_attempt)).status).toBe(200);
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('400 · a person can deny a claim without entering its code; a poll then gets access_denied, and the agent can start another claim', async () => {
    const bob = await world.human();
    const { agent, ceremony } = await world.begun(bob);
    const denied = await world.decide(bob, ceremony, { decision: 'deny', code: '' });
    expect([denied.status, denied.body.includes('The agent gets no access')]).toEqual([200, true]);
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('access_denied'));
    expect((await world.decide(bob, ceremony)).status).toBe(410);
    await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('authorization_pending'));
  });

  it('400 · a poll with an unknown claim token is invalid_grant; a poll without one is invalid_request', async () => {
    expect((await world.poll('clm_garbage')).body).toEqual(oauthError('invalid_grant'));
    expect((await world.poll('')).body).toEqual(oauthError('invalid_request'));
  });

  it('400 · a poll may use another vendor’s grant type; a resource that is not for agents is invalid_target', async () => {
    const { agent } = await world.begun(await world.human());
    const other = { grant_type: 'urn:acme:agent-auth:grant-type:claim', claim_token: agent.claim_token };
    expect((await world.grant(other)).body).toEqual(oauthError('authorization_pending'));
    for (const resource of [`${world.url}/a2a`, 'https://elsewhere.example', `${world.url}#part`]) {
      expect((await world.poll(agent.claim_token, { resource })).body).toEqual(oauthError('invalid_target'));
    }
  });

  it('200 · tokens of a claim that was completed in its last minute can be fetched nine minutes later', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(2));
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    world.clock.turn(minutes(1));
    expect((await world.decide(bob, body.claim_attempt)).status).toBe(200);
    world.clock.turn(minutes(9));
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  it('400 · an agent cannot fetch the tokens of a claim nine minutes after the claim has expired, even if the person completed it in time', async () => {
    const bob = await world.human();
    const agent = await world.anonymous();
    world.clock.turn(hours(24) - minutes(2));
    const { body } = await world.startClaim({ claim_token: agent.claim_token, email: bob.person.email });
    world.clock.turn(minutes(1));
    await world.decide(bob, body.claim_attempt);
    world.clock.turn(minutes(10));
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('expired_token'));
  });

  it.each(repeated)('exactly one of two concurrent polls after completion gets 200 (%i)', async () => {
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

  it('400 · a poll is answered with invalid_grant when the person has left the organization since approving the claim', async () => {
    const bob = await world.human(undefined, 'member');
    const { agent, ceremony } = await world.begun(bob);
    await world.decide(bob, ceremony);
    await world.knex('memberships').where({ userId: bob.person.id }).delete();
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('invalid_grant'));
  });
});
