// A world with a trusted provider, and the steps of the claim ceremony from the view of an agent and its person.
import type { OrgRole } from '#access/roles.ts';
import { bindTrustedIssuers } from '#domain/identity/agent-identities/id-jag/issuers.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import type { TrustedIssuer } from '#foundation/http/trusted-issuers.ts';
import { type Claims, openProvider, type Pen } from './id-jag-issuer.ts';
import { type Answer, type Ask, openWorld, type Session, type WorldSettings } from './world.ts';

export const claimGrant = 'urn:workos:agent-auth:grant-type:claim';
export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';

export type AgentWorld = Awaited<ReturnType<typeof openAgentWorld>>;

/** A person with a console session. */
export interface Human {
  person: Person;
  organization: Organization;
  session: Session;
}

export interface Choice {
  decision?: string;
  code?: string;
  orgId?: string;
  projectId?: string;
  scopes?: string[];
  days?: number | string;
  csrf?: string;
  /** Second path of the claim page, which accepts the same form. */
  path?: string;
}

let count = 0;

export async function openAgentWorld(settings: WorldSettings = {}) {
  const world = await openWorld(settings);
  const provider = await openProvider();
  openOutbound({ allowLoopback: true });
  const trust = (more: Partial<TrustedIssuer> = {}, ...others: TrustedIssuer[]) =>
    bindTrustedIssuers([{ issuer: provider.issuer, displayName: 'Acme Identity', ...more }, ...others]);
  trust();

  const form = (path: string, fields: [string, string][] | Record<string, string>, ask: Ask = {}): Promise<Answer> =>
    world.request('POST', path, {
      ...ask,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...ask.headers },
      body: new URLSearchParams(fields).toString(),
    });

  const identity = (body: unknown, ask: Ask = {}) => world.request('POST', '/v1/agent/identity', { ...ask, body });
  const startClaim = (body: unknown) => world.request('POST', '/v1/agent/identity/claim', { body });
  const grant = (fields: Record<string, string>) => form('/v1/oauth2/token', fields);
  const poll = (claimToken: string, more: Record<string, string> = {}) =>
    grant({ grant_type: claimGrant, claim_token: claimToken, ...more });
  const exchange = (assertion: string, more: Record<string, string> = {}) =>
    grant({ grant_type: jwtBearer, assertion, ...more });
  const present = async (jwt: string | Promise<string>) =>
    identity({ type: 'identity_assertion', assertion_type: idJagType, assertion: await jwt });

  /** Presents an assertion of the provider. */
  const show = (more?: Claims, pen?: Pen) => present(provider.idJag(more, pen));
  /** Presents an assertion that the identity provider has issued. Returns the status and the error of the response. */
  async function outcome(more?: Claims, pen?: Pen): Promise<unknown[]> {
    const { status, body } = await show(more, pen);
    return [status, body.error];
  }

  /** Path of the URL that the agent shows. */
  const pathOf = (ceremony: { verification_uri: string }): string => ceremony.verification_uri.slice(world.url.length);
  const tokenOf = (ceremony: { verification_uri: string }): string =>
    new URL(ceremony.verification_uri).searchParams.get('claim_attempt_token')!;

  const openPage = (human: Human | null, ceremony: { verification_uri: string }) =>
    world.request('GET', pathOf(ceremony), human ? { session: human.session } : {});

  /** Submits the form of the page. */
  function decide(
    human: Human,
    ceremony: { verification_uri: string; user_code: string },
    choice: Choice = {},
  ): Promise<Answer> {
    const fields: [string, string][] = [
      ['csrf_token', choice.csrf ?? human.session.csrf],
      ['claim_attempt_token', tokenOf(ceremony)],
      ['decision', choice.decision ?? 'approve'],
      ['user_code', choice.code ?? ceremony.user_code],
      ['org_id', choice.orgId ?? human.organization.id],
      ['project_id', choice.projectId ?? ''],
      ['expires_in_days', String(choice.days ?? 30)],
      ...(choice.scopes ?? ['missions:read', 'projects:read']).map((scope): [string, string] => ['scopes', scope]),
    ];
    return form(choice.path ?? '/claim/complete', fields, { session: human.session });
  }

  async function human(name = `person${++count}`, role: OrgRole = 'owner'): Promise<Human> {
    // `createOwner` would also create a token, and these tests list credentials.
    const person = await world.person(name);
    const founder = role === 'owner' ? person : await world.person(`founder-of-${name}`);
    const organization = await world.found(founder, `${name} and company`);
    if (role !== 'owner') await world.join(organization, person, role);
    return { person, organization, session: await world.session(person, organization.id) };
  }

  async function anonymous(): Promise<Answer['body']> {
    const answer = await identity({ type: 'anonymous' });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }

  /** Returns an anonymous agent that has asked this person to claim it. */
  async function begun(whom: Human) {
    const agent = await anonymous();
    const { body } = await startClaim({ claim_token: agent.claim_token, email: whom.person.email });
    return { agent, ceremony: body.claim_attempt, attemptId: body.claim_attempt_id };
  }

  /** An agent that this person has claimed, with its collected tokens. */
  async function claimed(whom: Human, choice: Choice = {}) {
    const { agent, ceremony } = await begun(whom);
    const decided = await decide(whom, ceremony, choice);
    if (decided.status !== 200) throw new Error(`${decided.status} ${decided.body}`);
    const { body } = await poll(agent.claim_token);
    return { registrationId: agent.registration_id as string, agent, ...(body as Record<string, string>) } as {
      registrationId: string;
      agent: Answer['body'];
      access_token: string;
      identity_assertion: string;
      scope: string;
      assertion_expires: string;
    };
  }

  /**
   * Registers an agent with the provider's assertion about one of the provider's users. The person confirms the registration. Returns the id
   * of the user, and the tokens of the agent.
   */
  async function linked(whom: Human, more: Claims = {}, choice: Choice = {}) {
    const claims = provider.claimsOf({ email: whom.person.email, ...more });
    const { body } = await present(provider.sign(claims));
    await decide(whom, body.claim, choice);
    const collected = await poll(body.claim_token);
    return { subject: claims.sub as string, registrationId: body.registration_id as string, ...collected.body } as {
      subject: string;
      registrationId: string;
      access_token: string;
      identity_assertion: string;
    };
  }

  return {
    ...world,
    provider,
    trust,
    form,
    identity,
    startClaim,
    grant,
    poll,
    exchange,
    present,
    show,
    outcome,
    pathOf,
    tokenOf,
    openPage,
    decide,
    human,
    anonymous,
    begun,
    claimed,
    linked,
    /** The caller that a bearer token identifies. */
    me: (bearer: string) => world.rest('GET', '/me', { token: bearer }),
    async close(): Promise<void> {
      openOutbound({ allowLoopback: false });
      bindTrustedIssuers([]);
      await provider.close();
      await world.close();
    },
  };
}

/** Outcome of a valid assertion of an unknown user: a person must confirm. */
export const believed = [401, 'interaction_required'];

/** A different six-digit code. */
export const otherCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
