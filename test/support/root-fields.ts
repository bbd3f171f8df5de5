// Every root field of the built schema, called through each surface that has it. New fields are included automatically.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { ProblemDetails } from '#foundation/problem.ts';
import { exposureOf, isGraphOnly, type RootExposure } from '#graph/exposure.ts';
import { type RequestRecord, requestRecords } from '#graph/input.ts';
import { bodyArgument } from '#graph/projection/arguments.ts';
import { schema } from '#schema.ts';
import { type RestRoute, routesOf } from '#surfaces/rest/routes.ts';
import type { Answer, Ask } from './world.ts';

type Kind = 'Query' | 'Mutation' | 'Subscription';

export interface RootField {
  kind: Kind;
  name: string;
  field: GraphQLField<unknown, unknown>;
  exposure: RootExposure;
  /** REST route of the field, if it has one. */
  route?: RestRoute;
}

export type Arguments = Record<string, unknown>;
export type Surface = 'GraphQL' | 'REST';
export type Request = (method: string, path: string, ask?: Ask) => Promise<Answer>;

const routes = routesOf(schema).routes;
const routeOf = (name: string) => routes.find((route) => route.name === name);

const rootsOf = (kind: Kind): RootField[] =>
  Object.values((schema.getType(kind) as GraphQLObjectType).getFields()).map((field) => {
    const route = routeOf(field.name);
    return { kind, name: field.name, field, exposure: exposureOf(field), ...(route && { route }) };
  });

export const rootFields: readonly RootField[] = [
  ...rootsOf('Query'),
  ...rootsOf('Mutation'),
  ...rootsOf('Subscription'),
];
export const rootField = (name: string): RootField => rootFields.find((one) => one.name === name)!;
/** The root fields that take a request record, either as their argument or as the body of their REST route. */
export const bodyRoots: readonly RootField[] = rootFields.filter((root) => recordOf(root));
export const surfacesOf = ({ route }: RootField): Surface[] => (route ? ['GraphQL', 'REST'] : ['GraphQL']);

/** The name of the request record that the field takes, if it takes one. */
export function inputOf(field: GraphQLField<unknown, unknown>): string | undefined {
  const input = field.args.find(({ name }) => name === bodyArgument);
  return input && getNamedType(input.type).name;
}

/** The request record that the field takes. For a field without one, the body of its route, whose members are arguments of the field. */
export function recordOf({ field, route }: RootField): (RequestRecord & { name: string }) | undefined {
  const name = inputOf(field);
  return name ? { name, ...requestRecords.get(name)! } : route?.body;
}

/** Whether the argument is required. */
export const isRequired = ({ type, defaultValue }: GraphQLArgument): boolean =>
  isNonNullType(type) && defaultValue === undefined;

/** All fields of a record that REST shows. */
export function selectionOf(output: GraphQLOutputType): string {
  const type = getNamedType(output);
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).filter((field) => !isGraphOnly(field));
  return `{ ${fields.map((field) => `${field.name} ${selectionOf(field.type)}`).join(' ')} }`;
}

/** The operation that selects `selection` from a root field, with every given argument as a variable. */
export function documentOf({ kind, name, field }: RootField, args: Arguments, selection = selectionOf(field.type)) {
  const given = field.args.filter((argument) => argument.name in args);
  const variables = given.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const passed = given.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  return `${kind.toLowerCase()} ${variables && `(${variables})`} { ${name}${passed && `(${passed})`} ${selection} }`;
}

/** The path of a route with its parameters and its query. */
export function pathOf({ template, query: inQuery }: RestRoute, args: Arguments): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(args[name])));
  const query = inQuery
    .filter(({ name }) => name in args)
    .map(({ name }) => `${name}=${encodeURIComponent(String(args[name]))}`);
  return `/v1${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

/** The body of a request to the route. */
export function bodyFor({ body, field, parameters }: RestRoute, args: Arguments): unknown {
  if (!body || body.isInput) return args[bodyArgument];
  const members = field.args.filter(({ name }) => name in args && !parameters.includes(name));
  return Object.fromEntries(members.map(({ name }) => [name, args[name]]));
}

/** The response of a surface: the record, or the problem and its status. */
export interface Outcome {
  status: number;
  data?: unknown;
  problem?: ProblemDetails;
  answer: Answer;
}

/** Calls a root field through one surface. The first event of a subscription counts as its response. */
export async function askField(
  request: Request,
  surface: Surface,
  root: RootField,
  args: Arguments,
  ask: Ask,
): Promise<Outcome> {
  if (surface === 'REST') {
    const { route } = root;
    const headers = { accept: 'application/problem+json, application/json', ...ask.headers };
    const answer = await request(route!.method, pathOf(route!, args), { ...ask, headers, body: bodyFor(route!, args) });
    if (answer.status < 300) return { status: answer.status, data: answer.body, answer };
    return { status: answer.status, problem: problemOfDetails(answer.body), answer };
  }
  const body = { query: documentOf(root, args), variables: args };
  const events = root.kind === 'Subscription' && { firstEvent: true as const };
  return outcomeOf(root.name, await request('POST', '/graphql', { ...ask, ...events, body }));
}

/** Converts a problem details response of REST (RFC 9457) to the problem as GraphQL returns it, so that tests can compare the two. */
function problemOfDetails({
  type,
  title,
  status,
  detail,
  instance,
  ...problem
}: Record<string, unknown>): ProblemDetails {
  if (typeof type !== 'string' || typeof instance !== 'string') throw new Error(`no problem details: ${status}`);
  const { category, retryable, ...data } = problem;
  return { category, title, description: detail, retryable, ...data } as unknown as ProblemDetails;
}

/**
 * The outcome of a GraphQL response. If the operation was executed, its HTTP status is 200 even when it failed, so the outcome has the
 * status that REST has for the same problem.
 */
export function outcomeOf(name: string, answer: Answer): Outcome {
  const { data, errors } = answer.body;
  if (!errors) return { status: answer.status, data: data[name], answer };
  const { problem } = errors[0].extensions;
  if (data?.[name] != null) throw new Error(`${name} answered data beside its problem: ${JSON.stringify(answer.body)}`);
  return { status: answer.status === 200 ? statusOf(problem) : answer.status, problem, answer };
}

const statuses: Record<string, number> = {
  invalid_request: 400,
  unauthenticated: 401,
  credits_exhausted: 402,
  daily_cost_cap: 402,
  budget_exhausted: 402,
  missing_scope: 403,
  agent_not_claimed: 403,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  record_changed: 409,
  lease_lost: 409,
  rate_limited: 429,
  internal: 500,
  upstream_failed: 502,
  upstream_busy: 503,
  upstream_unavailable: 503,
  upstream_timeout: 504,
  unavailable: 503,
};

/** The status that REST has for a problem (docs/contract.md#errors). */
export function statusOf(problem: ProblemDetails): number {
  if (problem.conflictingProjectId) return 409;
  const status = statuses[problem.code ?? ''];
  if (!status)
    throw new Error(
      `Which status has ${JSON.stringify(problem)}? Add its code to \`statuses\`, test/support/root-fields.ts`,
    );
  return status;
}
