// The GraphQL surface on a small separate graph, whose fields can fail in every possible way. Needs no database.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSchema } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import { missingScopes, notFound, tooMany, unauthenticated } from '#foundation/problem.ts';
import { graphql } from '#limits.ts';
import { createGraphql } from '#surfaces/graphql/surface.ts';

const person: Caller = {
  principalType: 'user',
  credentialId: 'tok_1',
  userId: 'usr_1',
  orgId: 'org_1',
  role: 'owner',
  scopes: new Set(),
  projectId: null,
};
const unclaimed: Caller = { ...person, principalType: 'agent', userId: null, orgId: null, role: null };

export const strict = { accept: 'application/graphql-response+json' };
export const invalidRequest = (description: string) => ({
  code: 'invalid_request',
  problem: { category: 'validation', title: 'Invalid request', description, retryable: false, code: 'invalid_request' },
});
export const refusal = (description: string) => ({
  errors: [{ message: description, extensions: invalidRequest(description) }],
});
export const cost = (requested: number) => ({ cost: { requested, maximum: graphql.cost } });

export async function openSmallGraph() {
  const reported: unknown[] = [];
  const metered = { operations: 0 };
  /** The end of the subscription `endless`. */
  const endless = { ended: () => {} };
  /** Error that is thrown when the cost of the field `fragile` is computed; null for none. */
  const fragile = { error: null as Error | null };

  const schema = createSchema({
    typeDefs: /* GraphQL */ `
    type Query {
      hello: String
      teapot: String!
      foreign: String
      broken: String
      away: String
      number: Int
      fragile: String
      rows(limit: Int! = 10): Page!
      node: Node!
    }
    type Page { data: [Row!]! nextCursor: String }
    type Row { id: String! children: [Row!]! }
    type Node { node: Node! name: String! }
    type Mutation { write(text: String!): String }
    type Subscription { count(to: Int!): Int fails: Int endless: Int }
  `,
    resolvers: {
      Query: {
        hello: () => 'world',
        teapot: () => {
          throw missingScopes(['projects:read']);
        },
        foreign: () => {
          throw notFound('project');
        },
        broken: () => {
          throw new Error('password is hunter2');
        },
        away: () => {
          throw Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
        },
        number: () => 'eleven',
        rows: (_, { limit }) => ({ data: Array.from({ length: limit }, (_, i) => ({ id: `${i}` })), nextCursor: null }),
        node: () => ({}),
      },
      Node: { node: () => ({}), name: () => 'n' },
      Row: { children: () => [] },
      Mutation: { write: (_, { text }) => text },
      Subscription: {
        count: {
          async *subscribe(_: unknown, { to }: { to: number }) {
            for (let count = 1; count <= to; count++) yield { count };
          },
        },
        endless: {
          async *subscribe() {
            try {
              for (;;) {
                yield { endless: 1 };
                await wait(5);
              }
            } finally {
              endless.ended();
            }
          },
        },
        fails: {
          // biome-ignore lint/correctness/useYield: it fails before
          async *subscribe() {
            throw new Error('password is hunter2');
          },
        },
      },
    },
  });

  // The exposure that every field of the real graph declares; without it nothing can be subscribed to.
  for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
    field.extensions = { exposure: { scope: 'any-caller' } };
  }
  schema.getQueryType()!.getFields().fragile!.extensions = {
    complexity() {
      const { error } = fragile;
      fragile.error = null;
      if (error) throw error;
      return { field: 1 };
    },
  };
  const surface = createGraphql({
    schema,
    authenticate: async ({ req }) => {
      if (req.headers.authorization === 'Bearer person') return person;
      if (req.headers.authorization === 'Bearer agent') return unclaimed;
      throw unauthenticated('A bearer token is required.', { headers: { 'www-authenticate': 'Bearer' } });
    },
    recheckCaller: async (_exchange, caller) => caller,
    meter: async (_exchange, _caller, operations) => {
      if (operations === 12) throw tooMany(7);
      metered.operations += operations;
    },
    report: (_exchange, error) => void reported.push(error),
  });
  const server = createServer((req, res) => {
    const [path, search = ''] = req.url!.split('?') as [string, string?];
    res.setHeader('x-request-id', 'req_1');
    void surface.handle({ req, res, path, search, requestId: 'req_1', address: '' });
  }).listen(0);
  const url = `http://localhost:${(server.address() as AddressInfo).port}/graphql`;

  function post(body: unknown, headers: Record<string, string> = {}) {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const standard = { authorization: 'Bearer person', 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', body: text as string, headers: { ...standard, ...headers } });
  }
  async function ask(query: string, variables?: object, headers?: Record<string, string>) {
    const response = await post({ query, variables }, headers);
    return { status: response.status, body: await response.json() };
  }
  return {
    endless,
    fragile,
    url,
    reported,
    metered,
    post,
    ask,
    close: () => server.close(),
    reset(): void {
      reported.length = 0;
      metered.operations = 0;
    },
  };
}
