// A test world with the authorization server, a person who can sign in, and functions for the steps of the authorization code flow that a
// client and a browser perform.
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import type { Resource } from '#domain/identity/oauth/resources.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { createOAuth } from '../../src/surfaces/oauth/surface.ts';
import { type Answer, openWorld, type Session } from './world.ts';

export const claimGrantType = 'urn:workos:agent-auth:grant-type:claim';
export const redirectUri = 'http://127.0.0.1/callback';

export type OAuthWorld = Awaited<ReturnType<typeof openOAuthWorld>>;

export interface Visit {
  person: Person;
  organization: Organization;
  session: Session;
}

export interface Choice {
  decision?: 'approve' | 'deny';
  scopes?: string[];
  projectId?: string;
  days?: number;
  orgId?: string;
  csrf?: string;
}

type Parameters = Record<string, string | undefined>;

export interface OAuthWorldSettings {
  registrationsPerHour?: number;
  trustedIssuers?: { issuer: string }[];
}

export async function openOAuthWorld(settings: OAuthWorldSettings = {}) {
  const world = await openWorld();
  const faults: unknown[] = [];
  serve();

  /** Puts an OAuth surface with these settings in front of the app, and collects the errors that it reports. */
  function serve(): void {
    const { registrationsPerHour = 1_000_000, trustedIssuers = [{ issuer: 'https://provider.example' }] } = settings;
    const report = (_exchange: unknown, error: unknown) => void faults.push(error);
    const surface = createOAuth({ claimGrantType, trustedIssuers, registrationsPerHour, report });
    const [app] = world.server.listeners('request') as ((req: IncomingMessage, res: ServerResponse) => void)[];
    world.server.removeAllListeners('request');
    world.server.on('request', (req, res) => {
      const [path = '', search = ''] = req.url!.split('?', 2);
      if (!surface.owns(path)) return app!(req, res);
      const address = req.socket.remoteAddress!;
      surface.handle({ req, res, path, search, requestId: 'req_test', address }).catch((error) => {
        faults.push(error);
        res.destroy();
      });
    });
  }

  /** Sends a body as a form, like a client. */
  const form = (path: string, parameters: Parameters | [string, string][], ask: { session?: Session } = {}) =>
    world.request('POST', path, {
      ...ask,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(
        Array.isArray(parameters) ? parameters : (JSON.parse(JSON.stringify(parameters)) as Record<string, string>),
      ).toString(),
    });

  const register = async (redirectUris: string[] = [redirectUri], more: object = {}): Promise<string> => {
    const answer = await world.request('POST', '/v1/oauth2/register', {
      body: { redirect_uris: redirectUris, client_name: 'Test client', ...more },
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.client_id;
  };

  const openPage = (parameters: Parameters | string, session?: Session) => {
    const query =
      typeof parameters === 'string'
        ? parameters
        : new URLSearchParams(JSON.parse(JSON.stringify(parameters)) as Record<string, string>).toString();
    return world.request('GET', `/oauth/authorize?${query}`, { ...(session && { session }) });
  };

  /** Opens the page and submits it as the person. */
  async function authorize(visit: Visit, parameters: Parameters, choice: Choice = {}): Promise<Answer> {
    const page = await openPage(parameters, visit.session);
    if (page.status !== 200) return page;
    return decide(visit, page, choice);
  }

  function decide(visit: Visit, page: Answer, choice: Choice = {}): Promise<Answer> {
    const ticked = [...String(page.body).matchAll(/name="scopes" value="([^"]+)" checked/g)].map((match) => match[1]!);
    const fields: [string, string][] = [
      ['csrf_token', choice.csrf ?? visit.session.csrf],
      ['request', hiddenRequest(page)],
      ['decision', choice.decision ?? 'approve'],
      ['org_id', choice.orgId ?? visit.organization.id],
      ['project_id', choice.projectId ?? ''],
      ['expires_in_days', String(choice.days ?? 90)],
      ...(choice.scopes ?? ticked).map((scope): [string, string] => ['scopes', scope]),
    ];
    return form('/oauth/authorize', fields, { session: visit.session });
  }

  return {
    ...world,
    faults,
    form,
    register,
    openPage,
    authorize,
    decide,
    async visitor(name: string, role: OrgRole = 'owner'): Promise<Visit> {
      // `createOwner` would also create a token, and these tests list credentials.
      const founder = await world.person(`founder-of-${name}`);
      const organization = await world.found(founder, `${name} and company`);
      const person = await world.person(name);
      await world.join(organization, person, role);
      return { person, organization, session: await world.session(person) };
    },
    /** A personal access token. */
    personalToken: (visit: Visit, grant: { scopes?: string[] } = {}): Promise<string> =>
      world.token(visit.person, visit.organization, grant),
    token: (parameters: Parameters | [string, string][]) => form('/v1/oauth2/token', parameters),
    /** Exchanges an authorization code for tokens, as a client program on this machine does. */
    exchange: (clientId: string, code: string, verifier: string, more: Parameters = {}) =>
      form('/v1/oauth2/token', {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        client_id: clientId,
        redirect_uri: redirectUri,
        ...more,
      }),
    /** An authorization code, as the client receives it. */
    async code(visit: Visit, parameters: Parameters, choice?: Choice): Promise<string> {
      const answer = await authorize(visit, parameters, choice);
      const code = locationOf(answer).searchParams.get('code');
      if (!code) throw new Error(`${answer.status} ${answer.headers.get('location')} ${answer.body}`);
      return code;
    },
    /** Whether a token gives access to a resource. */
    opens: async (token: string, resource: Resource): Promise<boolean> =>
      (await callerOfOAuthToken(token, resource)) !== null,
  };
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

export const hiddenRequest = (page: Answer): string =>
  /name="request" value="([^"]*)"/.exec(page.body)![1]!.replace(/&(\w+|#39);/g, (_, name: string) => entities[name]!);

/** The body of an error of OAuth. */
export const oauthError = (error: string) => ({ error, error_description: expect.any(String) });

export const locationOf = (answer: Answer): URL => new URL(answer.headers.get('location') ?? 'none:');

/** A verifier and its S256 challenge. */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A valid authorization request. */
export function authorizationRequest(clientId: string, more: Parameters = {}) {
  const { verifier, challenge } = pkce();
  const parameters: Parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: 'a state',
    scope: 'missions:read missions:run offline_access',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  return { verifier, parameters };
}
