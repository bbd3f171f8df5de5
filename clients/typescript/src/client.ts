// The client: a function for each operation of the API, by the operation's name. The caller need not know which are REST or GraphQL.
import { documents, listings, type Operations, routes, type Subscriptions } from './api.ts';
import { dataOf, type GraphQLAnswer, subscribe } from './events.ts';
import { Listing } from './listing.ts';
import { type CallOptions, createTransport, type Transport, type TransportSettings } from './transport.ts';

type Name = keyof Operations;
type Input<K extends Name> = Operations[K]['input'];
type Output<K extends Name> = Operations[K]['output'];

/** The input may be omitted if none of its members is required. */
type Arguments<Input> =
  Record<never, never> extends Input ? [input?: Input, options?: CallOptions] : [input: Input, options?: CallOptions];

type Result<K extends Name> = K extends keyof typeof listings
  ? Output<K> extends Record<(typeof listings)[K], (infer Item)[]>
    ? Listing<Output<K>, Item>
    : never
  : Promise<Output<K>>;

export type Calls = { [K in Name]: (...args: Arguments<Input<K>>) => Result<K> };
export type Streams = {
  [K in keyof Subscriptions]: (
    ...args: Arguments<Subscriptions[K]['input']>
  ) => AsyncGenerator<Subscriptions[K]['output']>;
};

export interface Client extends Calls, Streams {
  /** The data of any GraphQL query or mutation. */
  graphql<Data = Record<string, unknown>>(
    query: string,
    variables?: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Data>;
  /** The events of any GraphQL subscription. */
  subscribe<Data = Record<string, unknown>>(
    query: string,
    variables?: Record<string, unknown>,
    options?: CallOptions,
  ): AsyncGenerator<Data>;
}

type Values = Record<string, unknown>;

/** Creates a client. Each of its functions throws an ApiError, or the reason of the signal that aborted the call. */
export function createClient(settings: TransportSettings): Client {
  const transport = createTransport(settings);
  const graphql = (query: string, variables: Values = {}, options: CallOptions = {}) =>
    askGraph(transport, query, variables, options);
  const calls: Record<string, unknown> = {
    graphql,
    subscribe: (query: string, variables: Values = {}, options: CallOptions = {}) =>
      subscribe(transport, query, () => variables, options),
  };
  for (const [name, route] of Object.entries(routes)) {
    calls[name] = listed(name, (input, options) => callRoute(transport, route, input, options));
  }
  for (const [name, document] of Object.entries(documents)) {
    calls[name] = document.startsWith('subscription')
      ? (input: Values = {}, options: CallOptions = {}) => follow(transport, name, document, input, options)
      : listed(name, async (input, options) => (await graphql(document, input, options))[name]);
  }
  return calls as unknown as Client;
}

type Call = (input: Values, options: CallOptions) => Promise<unknown>;

function listed(name: string, call: Call) {
  const member = (listings as Record<string, string>)[name];
  if (!member) return (input: Values = {}, options: CallOptions = {}) => call(input, options);
  return (input: Values = {}, options: CallOptions = {}) =>
    new Listing(
      (cursor) => call(cursor === null ? input : { ...input, cursor }, options),
      (page) => (page as Record<string, unknown[]>)[member]!,
    );
}

/** Input members named in the path go into the path; the others go into the query of a GET, else into the body. */
function callRoute(transport: Transport, route: string, input: Values, options: CallOptions): Promise<unknown> {
  const [method, template] = route.split(' ') as [string, string];
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string.`);
    return encodeURIComponent(value);
  });
  const query = method === 'GET' ? queryOf(rest) : '';
  const hasBody = method !== 'GET' && Object.keys(rest).length > 0;
  return transport.request(
    {
      method,
      path: `/v1${path}${query}`,
      ...(method === 'POST' && { headers: keyHeader(options) }),
      ...(hasBody && { body: rest }),
      // A repeated DELETE would return 404, and a repeated PATCH could undo a change made in between.
      repeatable: method === 'GET' || method === 'PUT' || method === 'POST',
    },
    options,
  );
}

function queryOf(values: Values): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return query.size > 0 ? `?${query}` : '';
}

const askGraph = (transport: Transport, query: string, variables: Values, options: CallOptions): Promise<never> =>
  transport.request(
    {
      method: 'POST',
      path: '/graphql',
      // The idempotency key has an effect only for mutations.
      headers: keyHeader(options),
      body: { query, variables },
      repeatable: true,
    },
    options,
    (response, body) => dataOf((body ?? {}) as GraphQLAnswer, response) as never,
  );

/** With an idempotency key a repeated request takes effect once. */
const keyHeader = ({ idempotencyKey = createKey() }: CallOptions) => ({ 'idempotency-key': idempotencyKey });

async function* follow(transport: Transport, name: string, document: string, input: Values, options: CallOptions) {
  let variables = input;
  for await (const data of subscribe(transport, document, () => variables, options)) {
    const event = data[name] as { nextFragment?: number };
    // A new connection continues after the last event.
    if (event.nextFragment !== undefined) variables = { ...variables, after: event.nextFragment };
    yield event;
  }
}

/** The key has 128 random bits. `randomUUID` would not work everywhere, because it exists in secure contexts only. */
function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
