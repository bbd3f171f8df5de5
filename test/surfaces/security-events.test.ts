// Security events of a provider over real HTTP: an event can end the agent of the provider's user (RFC 8417, RFC 8935;
// docs/contract.md#security-events).
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { days, minutes } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type AgentWorld, openAgentWorld } from '../support/agent-world.ts';
import { type Claims, openProvider } from '../support/id-jag-issuer.ts';
import { present } from '../support/world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld({ trustProxy: true });
});
afterAll(() => world.close());
afterEach(() => world.trust());

const now = () => Math.floor(present() / 1_000);
const revoked = 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked';

const notify = async (jws: string | Promise<string>, headers: Record<string, string> = {}) =>
  world.request('POST', '/v1/agent/event/notify', {
    headers: { 'content-type': 'application/secevent+jwt', ...headers },
    body: await jws,
  });
const understood = { status: 202, body: '' };
const outcome = async (jws: string | Promise<string>) => {
  const { status, body } = await notify(jws);
  return { status, body };
};
const refused = (err: string) => ({ status: 400, body: { err, description: expect.any(String) } });
const idJagOf = (subject: string, email: string) => world.provider.idJag({ sub: subject, email });

describe('Events that revoke an identity', () => {
  it('202 · an event ends the agent’s token, assertion and link at once; a new claim starts afresh', async () => {
    const alice = await world.human();
    const { subject, registrationId, access_token, identity_assertion } = await world.linked(alice);
    expect((await world.me(access_token)).status).toBe(200);
    const answer = await notify(world.provider.event({ sub: subject }));
    expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([202, '', 'no-store']);
    expect((await world.me(access_token)).status).toBe(401);
    expect((await world.exchange(identity_assertion)).body.error).toBe('invalid_grant');

    const again = await world.present(idJagOf(subject, alice.person.email));
    expect([again.status, again.body.error]).toEqual([401, 'interaction_required']);
    expect(again.body.registration_id).not.toBe(registrationId);
    await world.decide(alice, again.body.claim);
    expect((await world.poll(again.body.claim_token)).status).toBe(200);
    expect((await world.exchange(identity_assertion)).body.error).toBe('invalid_grant');
    const { body } = await world.rest('GET', '/agent-delegations', { session: alice.session });
    expect(body.data.map((one: { status: string }) => one.status).sort()).toEqual(['active', 'revoked']);
  });

  it('202 · an event that is delivered again changes nothing, even if the identity was linked again after the first delivery', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice);
    const event = await world.provider.event({ sub: subject });
    expect(await outcome(event)).toEqual(understood);
    expect(await outcome(event)).toEqual(understood);
    const { access_token } = await world.linked(alice, { sub: subject });
    expect(await outcome(event)).toEqual(understood);
    expect((await world.me(access_token)).status).toBe(200);
  });

  it.each([1, 2, 3, 4])('202 · an event that is delivered several times concurrently acts once (%i)', async () => {
    const alice = await world.human();
    const { subject, registrationId } = await world.linked(alice);
    const event = await world.provider.event({ sub: subject });
    const all = await Promise.all(Array.from({ length: 4 }, () => outcome(event)));
    expect(all).toEqual(Array(4).fill(understood));
    const [row] = await world.knex('agent_registrations').where({ id: registrationId });
    expect([row.generation, row.revokedAt]).toEqual([3, present()]);
  });

  it('202 · an event ends a pending claim', async () => {
    const alice = await world.human();
    const { body } = await world.present(idJagOf('pending', alice.person.email));
    expect(await outcome(world.provider.event({ sub: 'pending' }))).toEqual(understood);
    expect((await world.poll(body.claim_token)).body.error).toBe('expired_token');
    expect((await world.openPage(alice, body.claim)).status).toBe(410);
    const restart = await world.startClaim({ claim_token: body.claim_token, email: alice.person.email });
    expect([restart.status, restart.body.error]).toEqual([410, 'claim_expired']);
  });

  it('202 · an event may name its subject as in RFC 9493; 400 · the subject of another issuer is refused', async () => {
    const alice = await world.human();
    const { subject, access_token } = await world.linked(alice);
    const sub_id = { format: 'iss_sub', iss: 'https://elsewhere.example', sub: subject };
    expect(await outcome(world.provider.event({ sub: undefined, sub_id }))).toEqual(refused('invalid_request'));
    expect((await world.me(access_token)).status).toBe(200);
    sub_id.iss = world.provider.issuer;
    expect(await outcome(world.provider.event({ sub: undefined, sub_id }))).toEqual(understood);
    expect((await world.me(access_token)).status).toBe(401);
  });

  it('202 · an event leaves other users unchanged, even one with the same name at another provider', async () => {
    const other = await openProvider();
    world.trust({}, { issuer: other.issuer, displayName: 'Other' });
    const [alice, bob] = [await world.human(), await world.human()];
    const [hers, his] = [await world.linked(alice), await world.linked(bob)];
    expect(await outcome(other.event({ sub: hers.subject }))).toEqual(understood);
    expect(await outcome(world.provider.event({ sub: 'somebody else' }))).toEqual(understood);
    for (const { access_token } of [hers, his]) expect((await world.me(access_token)).status).toBe(200);
    expect(await outcome(world.provider.event({ sub: his.subject }))).toEqual(understood);
    expect([(await world.me(hers.access_token)).status, (await world.me(his.access_token)).status]).toEqual([200, 401]);
    await other.close();
  });

  it('202 · an event of another type changes nothing', async () => {
    const alice = await world.human();
    const { subject, access_token } = await world.linked(alice);
    const events = { 'https://schemas.openid.net/secevent/risc/event-type/sessions-revoked': {} };
    expect(await outcome(world.provider.event({ sub: subject, events }))).toEqual(understood);
    expect((await world.me(access_token)).status).toBe(200);
  });
});

describe('Invalid security events', () => {
  let subject: string;
  let token: string;
  beforeAll(async () => {
    const linked = await world.linked(await world.human(), {}, { days: 365 });
    [subject, token] = [linked.subject, linked.access_token];
  });
  afterAll(async () => {
    expect((await world.me(token)).status).toBe(200);
  });
  const event = (more: Claims = {}, header: Record<string, unknown> = {}) =>
    world.provider.event({ sub: subject, ...more }, { header });

  it('400 · an event of an untrusted issuer is refused with invalid_issuer, and nothing is fetched from the issuer', async () => {
    const stranger = await openProvider();
    const answer = await notify(stranger.event({ sub: subject }));
    expect({ status: answer.status, body: answer.body }).toEqual(refused('invalid_issuer'));
    expect(answer.headers.get('content-language')).toBe('en');
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(stranger.asked).toEqual([]);
    expect(await outcome(event({ iss: undefined }))).toEqual(refused('invalid_issuer'));
    await stranger.close();
  });

  it('400 · an event from an issuer that is not set up to send events is refused with access_denied', async () => {
    world.trust({ maySendEvents: false });
    expect(await outcome(event())).toEqual(refused('access_denied'));
  });

  it('400 · an event with another audience, a forged signature or an unknown key is refused, each with its own error code', async () => {
    expect(await outcome(event({ aud: 'https://elsewhere.example' }))).toEqual(refused('invalid_audience'));
    expect(await outcome(event({ aud: [addresses().issuer, 'https://b.example'] }))).toEqual(
      refused('invalid_audience'),
    );
    const { privateKey } = await generateKeyPair('ES256');
    const forged = world.provider.event({ sub: subject }, { key: privateKey });
    expect(await outcome(forged)).toEqual(refused('authentication_failed'));
    expect(await outcome(event({ exp: now() - 1 }))).toEqual(refused('authentication_failed'));
    expect(await outcome(event({}, { kid: 'unknown' }))).toEqual(refused('invalid_key'));
    const hmac = world.provider.event({ sub: subject }, { header: { alg: 'HS256' }, key: Buffer.alloc(32) });
    expect(await outcome(hmac)).toEqual(refused('authentication_failed'));
  });

  it.each([
    ['empty events', () => event({ events: {} })],
    ['a list of events', () => event({ events: [revoked] })],
    ['no events', () => event({ events: undefined })],
    ['no jti', () => event({ jti: undefined })],
    ['a jti with a NUL', () => event({ jti: 'j\0' })],
    ['no subject', () => event({ sub: undefined })],
    ['no iat', () => event({ iat: undefined })],
    ['a time in the future', () => event({ iat: now() + 120 })],
    ['an age of seven days', () => event({ iat: now() - 7 * 86_400 })],
    ['the type JWT', () => event({}, { typ: 'JWT' })],
    ['an ID-JAG', () => world.provider.idJag()],
    ['garbage', async () => 'garbage'],
    ['an empty body', async () => ''],
  ])('400 · an event is refused with invalid_request: %s', async (_what, jws) => {
    expect(await outcome(jws())).toEqual(refused('invalid_request'));
  });

  it('400 · an event of another media type is refused with invalid_request, even if its body is valid', async () => {
    const good = await event({ events: { 'https://elsewhere.example/event': {} } });
    for (const type of ['application/json', 'application/jwt', 'text/plain']) {
      const { status, body } = await notify(good, { 'content-type': type });
      expect({ status, body }).toEqual(refused('invalid_request'));
    }
    expect(await outcome(good)).toEqual(understood);
  });

  it('405, 413, 429 · errors for other methods, large bodies and too many events have the same format', async () => {
    expect((await world.request('GET', '/v1/agent/event/notify')).status).toBe(405);
    const large = await notify('a'.repeat(65_537));
    expect([large.status, large.body]).toEqual([413, { err: 'invalid_request', description: expect.any(String) }]);
    const from = { 'x-forwarded-for': '192.0.2.9' };
    const all = await Promise.all(Array.from({ length: 301 }, () => notify('garbage', from)));
    const over = all.filter(({ status }) => status === 429);
    expect(over).toHaveLength(1);
    expect(Number(over[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('Ids of security events', () => {
  it('the id of an event is stored until the event is too old to be accepted, so that a repeated event is recognized', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice, {}, { days: 30 });
    const event = await world.provider.event({ sub: subject });
    await notify(event);
    const [row] = await world.knex('used_jtis').where({ kind: 'event' }).orderBy('expiresAt', 'desc').limit(1);
    expect(row.expiresAt).toBe(now() * 1_000 + days(7));
    world.clock.turn(days(7) - minutes(1));
    expect(await outcome(event)).toEqual(understood);
    world.clock.turn(minutes(1));
    expect(await outcome(event)).toEqual(refused('invalid_request'));
  });
});
