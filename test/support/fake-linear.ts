// Linear as a loopback server: checks every request against Linear's published schema (fixtures/linear.graphql) and its documented
// authentication, responds like Linear, and fails on demand.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import {
  buildSchema,
  GraphQLError,
  type GraphQLFormattedError,
  getNamedType,
  graphql,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from 'graphql';
import { agentId, openSessions } from './fake-linear-sessions.ts';
import { type Asked, type Disturbance, openStandIn, type Reply, type Violate } from './fake-vendor.ts';

const schema = buildSchema(readFileSync(new URL('../fixtures/linear.graphql', import.meta.url), 'utf8'));

interface LinearIssue {
  id: string;
  identifier: string;
  url: string;
  title: string;
  description: string;
  labelIds: string[];
  teamId: string;
  stateId: string;
  delegateId?: string;
}

const states = [
  { id: 'state-todo', type: 'unstarted', position: 1 },
  { id: 'state-review', type: 'started', position: 3 },
  { id: 'state-progress', type: 'started', position: 2 },
  { id: 'state-released', type: 'completed', position: 9 },
  { id: 'state-done', type: 'completed', position: 4 },
  { id: 'state-canceled', type: 'canceled', position: 2 },
];
const team = { id: '7c0b5a3e-9f59-4b52-8a4f-0a3cf6f3c111', key: 'ENG' };
const bare = { id: '7c0b5a3e-9f59-4b52-8a4f-0a3cf6f3c222', key: 'OPS' };
const labels = [
  { id: 'label-nightly', name: 'Nightly', team, isGroup: false },
  { id: 'label-bot', name: 'bot', team: null, isGroup: false },
  { id: 'label-group', name: 'Kind', team, isGroup: true },
  { id: 'label-other', name: 'bot', team: bare, isGroup: false },
];

/** An OAuth application with client credentials. */
interface LinearApp {
  clientId: string;
  clientSecret: string;
}

export type Linear = Awaited<ReturnType<typeof openLinear>>;

/** Opens the server. @param authorization The only accepted Authorization header */
export async function openLinear(authorization: string) {
  const issues = new Map<string, LinearIssue>();
  const comments = new Map<string, { id: string; issueId: string; body: string }>();
  const settings: { authorization: string; statusOfErrors: number; app?: LinearApp } = {
    authorization,
    statusOfErrors: 200,
  };
  const standIn = await openStandIn(async ({ method, url, headers, body }, violate) => {
    if (url === '/oauth/token') return issueToken(headers['content-type'], body, violate);
    if (method !== 'POST' || url !== '/graphql') violate(`${method} ${url}`);
    if (headers['content-type'] !== 'application/json') violate(`content-type: ${headers['content-type']}`);
    if (headers.authorization !== settings.authorization) return { status: 401, body: { errors: [unauthenticated] } };
    const { query, variables, ...more } = body as { query: string; variables: Record<string, unknown> };
    if (Object.keys(more).length > 0) violate(`members of the body: ${Object.keys(more)}`);
    const faults = validate(schema, parse(query));
    for (const { message } of faults) violate(message);
    const answer = await graphql({ schema, source: query, variableValues: variables, rootValue });
    // An error about a variable that does not fit its type has no path.
    for (const { path, message } of answer.errors ?? []) if (!path) violate(message);
    const body2 = { ...answer, errors: answer.errors?.map((error) => error.toJSON()) };
    return { status: answer.errors ? settings.statusOfErrors : 200, body: body2 };
  }, nameOfOperation);

  /** Answers the client credentials grant of Linear. The token that it issues invalidates the earlier token. */
  function issueToken(type: string | undefined, body: unknown, violate: Violate): Reply {
    if (type !== 'application/x-www-form-urlencoded') violate(`content-type: ${type}`);
    const { client_id, client_secret, ...form } = Object.fromEntries(new URLSearchParams(String(body)));
    const { app } = settings;
    if (form.grant_type !== 'client_credentials') violate(`grant_type: ${form.grant_type}`);
    const scopes = ['read', 'write', 'app:assignable', 'app:mentionable'];
    if (form.scope !== scopes.join(',')) violate(`scope: ${form.scope}`);
    if (app?.clientId !== client_id || app?.clientSecret !== client_secret)
      return { status: 401, body: { error: 'invalid_client', error_description: 'Invalid client' } };
    settings.authorization = `Bearer lin_oauth_${randomUUID()}`;
    const token = settings.authorization.slice('Bearer '.length);
    const answer = { access_token: token, token_type: 'Bearer', expires_in: 2_591_999, scope: scopes.join(' ') };
    return { status: 200, body: answer };
  }

  const sessions = openSessions({ mustBeNew, missing, violate: (what) => standIn.violations.push(what) });
  const rootValue = {
    ...sessions.rootValue,
    teams: ({ filter }: { filter: Filter }) => ({ nodes: [team, bare].filter((one) => matches(filter, one)) }),
    issueLabels: ({ filter }: { filter: Filter }) => ({ nodes: labels.filter((label) => matches(filter, label)) }),
    organization: { id: 'organization-acme', name: 'Acme', urlKey: 'acme' },
    issue: ({ id }: { id: string }) => shown(issues.get(id) ?? missing('Issue')),
    comment: ({ id }: { id: string }) => comments.get(id) ?? missing('Comment'),
    issueCreate({ input }: { input: Omit<LinearIssue, 'identifier' | 'url' | 'stateId'> }) {
      mustBeNew('Issue', issues, input.id);
      if (input.teamId !== team.id && input.teamId !== bare.id) missing('Team');
      if (input.labelIds.some((id) => !labels.some((label) => label.id === id && !label.isGroup)))
        missing('IssueLabel');
      const identifier = `ENG-${issues.size + 1}`;
      const url = `https://linear.app/acme/issue/${identifier}`;
      const issue = { ...input, identifier, url, stateId: 'state-todo' };
      issues.set(issue.id, issue);
      return { success: true, lastSyncId: 1, issue: shown(issue) };
    },
    commentCreate({ input }: { input: { id: string; issueId: string; body: string } }) {
      mustBeNew('Comment', comments, input.id);
      if (!issues.has(input.issueId)) missing('Issue');
      comments.set(input.id, input);
      return { success: true, lastSyncId: 1, comment: input };
    },
    commentUpdate({ id, input }: { id: string; input: { body: string } }) {
      const comment = Object.assign(comments.get(id) ?? missing('Comment'), input);
      return { success: true, lastSyncId: 1, comment };
    },
    issueUpdate({ id, input }: { id: string; input: { stateId?: string; delegateId?: string } }) {
      const issue = issues.get(id) ?? missing('Issue');
      if (input.stateId && !states.some((state) => state.id === input.stateId)) missing('WorkflowState');
      if (input.delegateId && input.delegateId !== agentId) missing('User');
      Object.assign(issue, input);
      return { success: true, lastSyncId: 1, issue: shown(issue) };
    },
  };

  const shown = (issue: LinearIssue) => ({
    ...issue,
    comments: () => ({ nodes: [...comments.values()].filter(({ issueId }) => issueId === issue.id) }),
    delegate: issue.delegateId ? { id: issue.delegateId, app: true, displayName: 'Agent' } : null,
    state: states.find(({ id }) => id === issue.stateId),
    team: {
      ...team,
      states: ({ filter }: { filter: Filter }) => ({
        nodes: issue.teamId === bare.id ? [] : states.filter((state) => matches(filter, state)),
      }),
    },
  });

  return {
    ...standIn,
    address: `http://127.0.0.1:${(standIn.server.address() as AddressInfo).port}/graphql`,
    settings,
    issues,
    comments,
    sessions,
    teamId: team.id,
    /** Sends a data change to a webhook, signed as Linear does. `members` replace those of the payload. */
    async send(
      to: { address: string; secret: string },
      type: 'Issue' | 'Comment',
      {
        delivery = randomUUID(),
        signature,
        ...members
      }: Record<string, unknown> & { delivery?: string; signature?: string },
    ): Promise<Response> {
      const event = {
        ...{ type, createdAt: '2026-11-23T09:00:00.000Z', organizationId: 'organization-acme' },
        ...{ webhookId: 'webhook-1', webhookTimestamp: Date.UTC(2026, 10, 23, 9), ...members },
      };
      const { data, actor, ...envelope } = event as Record<string, unknown>;
      const actorType = (actor as { type: string }).type === 'user' ? 'UserActor' : 'OauthClientActor';
      const wrong = [
        ...mismatches('EntityWebhookPayload', { ...envelope, data: {}, actor: {} }),
        ...mismatches(`${type}WebhookPayload`, data),
        ...mismatches(`${actorType}WebhookPayload`, actor),
      ];
      standIn.violations.push(...wrong);
      return deliver(to, event, { type, delivery, signature });
    },
    /**
     * Sends an event of an agent session to a webhook, signed as Linear does. From then on, the stand-in accepts requests about this
     * session.
     */
    async sendSession(
      to: { address: string; secret: string },
      {
        delivery = randomUUID(),
        signature,
        ...members
      }: Record<string, unknown> & { agentSession: { id: string }; delivery?: string; signature?: string },
    ): Promise<Response> {
      const type = 'AgentSessionEvent';
      const event = {
        ...{ type, createdAt: '2026-11-23T09:00:00.000Z', organizationId: 'organization-acme', webhookId: 'webhook-2' },
        ...{ appUserId: agentId, oauthClientId: 'client-of-acme', ...members },
      };
      standIn.violations.push(...mismatches('AgentSessionEventWebhookPayload', event));
      const { id } = members.agentSession;
      if (!sessions.states.has(id)) sessions.states.set(id, {});
      return deliver(to, event, { type, delivery, signature });
    },
    /** Deletes all records. */
    clear(): void {
      issues.clear();
      comments.clear();
      sessions.clear();
      Object.assign(settings, { authorization, statusOfErrors: 200, app: undefined });
      standIn.forget();
    },
  };
}

async function deliver(
  { address, secret }: { address: string; secret: string },
  event: object,
  { type, delivery, signature }: { type: string; delivery: string; signature: string | undefined },
): Promise<Response> {
  const body = JSON.stringify(event);
  return fetch(address, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'linear-delivery': delivery,
      'linear-event': type,
      'linear-signature': signature ?? createHmac('sha256', secret).update(body).digest('hex'),
    },
  });
}

/** The differences between a payload and its type in the published schema. */
function mismatches(name: string, value: unknown): string[] {
  const type = schema.getType(name);
  if (!isObjectType(type)) return [];
  const fields = type.getFields();
  const members = value as Record<string, unknown>;
  const unknown = Object.keys(members).filter((member) => !(member in fields));
  return [
    ...unknown.map((member) => `${name} has no ${member}`),
    ...Object.entries(fields).flatMap(([member, field]) => {
      const held = members[member];
      if (held == null) return isNonNullType(field.type) ? [`${name} lacks ${member}`] : [];
      return [held].flat().flatMap((one) => mismatches(getNamedType(field.type).name, one));
    }),
  ];
}

const nameOfOperation = ({ url, body }: Asked): string =>
  url === '/oauth/token'
    ? 'oauth/token'
    : (/^\s*(?:query|mutation) (\w+)/.exec((body as { query?: string }).query ?? '')?.[1] ?? '');

const uuid4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

function mustBeNew(noun: string, there: ReadonlyMap<string, unknown>, id: string): void {
  if (!uuid4.test(id)) throw fault('Argument Validation Error', 'id must be a UUID.');
  if (there.has(id)) throw fault(`conflict on insert of ${noun}`, `Entity ${noun} with id ${id} already exists.`);
}

function missing(noun: string): never {
  throw fault(`Entity not found: ${noun}`, `Could not find referenced ${noun}.`);
}

/** An error in Linear's format. */
const fault = (message: string, userPresentableMessage: string): GraphQLError =>
  new GraphQLError(message, {
    extensions: {
      type: 'invalid input',
      code: 'INPUT_ERROR',
      statusCode: 400,
      userError: true,
      userPresentableMessage,
    },
  });

const unauthenticated: GraphQLFormattedError = {
  message: 'Authentication required, not authenticated',
  extensions: {
    type: 'authentication error',
    code: 'AUTHENTICATION_ERROR',
    statusCode: 401,
    userError: true,
    userPresentableMessage: 'You need to authenticate to access this operation.',
  },
};

/** Linear's response when a client exceeds its rate limit. */
export const rateLimited = (headers: Record<string, string>): Disturbance => ({
  status: 400,
  headers,
  body: {
    errors: [
      { message: 'Rate limit exceeded', extensions: { type: 'ratelimited', code: 'RATELIMITED', statusCode: 429 } },
    ],
  },
});

/** Any other failure that Linear reports in the body. */
export const failing = (status: number, message: string, extensions: Record<string, unknown>): Disturbance => ({
  status,
  body: { data: null, errors: [{ message, extensions }] },
});

type Filter = { [member: string]: unknown };

/** Linear's filters, as far as the service uses them. */
function matches(filter: Filter, value: unknown): boolean {
  return Object.entries(filter).every(([member, wanted]) => {
    if (member === 'and') return (wanted as Filter[]).every((one) => matches(one, value));
    if (member === 'or') return (wanted as Filter[]).some((one) => matches(one, value));
    if (member === 'eq') return value === wanted;
    if (member === 'eqIgnoreCase') return String(value).toLowerCase() === String(wanted).toLowerCase();
    if (member === 'null') return (value === null) === wanted;
    return value !== null && matches(wanted as Filter, (value as Filter)[member]);
  });
}
