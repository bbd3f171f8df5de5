// Tests of query plans. A plan writes the same text as graphql-js. If the result of graphql-js has errors, the plan throws an error and writes no
// text.

import { execute, type FieldNode, getOperationAST, parse } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { beforeEach, describe, expect, test } from 'vitest';
import { createContext } from '#graph/context.ts';
import { compilePlan, planField } from '#graph/projection/plan.ts';
import { chosen, variablesOfConditions } from '#surfaces/graphql/conditions.ts';

const acme = { id: 'o1', name: 'Acme "&" \u2028 Söhne 🏃', tags: ['a', null], none: null };
const projects = [
  { id: 'p1', organization: acme, grid: [[acme], []], status: 'ACTIVE', size: 1.5, json: { a: [1, undefined] } },
  { id: 'p2', organization: acme, grid: null, status: 'PAUSED', size: null, json: null },
  null,
  { id: 'p3', organization: null, grid: [null], status: null, size: 2, json: 'text' },
];
let asked: string[] = [];

const schema = createSchema({
  typeDefs: /* GraphQL */ `
    type Query {
      projects(first: Int! = 10): [Project]!
      project(id: String!): Project
      now: String!
      wrong: Project
      promised: [Organization!]
    }
    type Project {
      id: String!
      organization: Organization
      grid: [[Organization!]]
      status: Status
      size: Float
      json: Json
      count: Int!
      words(of: Int!): [String!]!
      failing: String
      refused: Int
      word: Int
      numbers: [Int!]
    }
    type Organization { id: String!, name: String!, tags: [String], none: String, owner: Project }
    enum Status { ACTIVE PAUSED }
    scalar Json
    type Mutation { write: String }
  `,
  resolvers: {
    Query: {
      projects: async (_, { first }) => projects.slice(0, first),
      project: (_, { id }) => projects.find((one) => one?.id === id),
      now: () => Promise.resolve('now'),
      wrong: () => ({ id: null }),
      promised: () => [Promise.resolve(acme)],
    },
    Project: {
      count: async ({ id }) => id.length,
      words: (_, { of }) => Array.from({ length: of }, (_, n) => `word ${n}`),
      failing: () => {
        throw new Error('no');
      },
      refused: () => Promise.reject(new Error('no')),
      word: () => 'no number',
      numbers: () => [1, 'no number'],
    },
    Organization: {
      owner: ({ id }) => {
        asked.push(id);
        return Promise.resolve(projects[0]);
      },
    },
  },
});

beforeEach(() => {
  asked = [];
});

const context = () => createContext({} as never, 'req_1');
const planned = async (source: string, variables = {}) => {
  const plan = compilePlan(schema, parse(source));
  return plan && JSON.parse(await plan({ context: context(), variables }));
};

const all = 'id organization { id name tags none } grid { id } status size json count words(of: 2)';

test.each([
  `{ projects { ${all} } }`,
  `{ projects(first: 0) { ${all} } now }`,
  '{ projects { __typename key: id id organization { type: __typename } } __typename }',
  '{ now a: now project(id: "p1") { id } none: project(id: "none") { id } }',
  '{ projects { organization { name } id organization { id owner { id organization { id } } } } }',
  '{ projects { ...A ... { size } ... on Project { count } } } fragment A on Project { id organization { ...B } } fragment B on Organization { id }',
  'query Named { projects { count organization { owner { count words(of: 0) } } status } }',
])('the plan of a query produces the answer of graphql-js: %s', async (source) => {
  expect(await planned(source)).toEqual(
    JSON.parse(JSON.stringify(await execute({ schema, document: parse(source), contextValue: context() }))).data,
  );
});

test.each([
  '{ now @include(if: true) a: now @skip(if: true) }',
  'query ($a: Boolean!, $b: Boolean!) { now @include(if: $a) project(id: "p1") { id @skip(if: $b) count @include(if: $a) @skip(if: $b) size } }',
  'query ($a: Boolean!, $b: Boolean!) { now ...A @skip(if: $a) } fragment A on Query { project(id: "p1") { ... @include(if: $b) { id } size } }',
])('a query with @include and @skip has a plan for each combination of its conditions: %s', async (source) => {
  const document = parse(source);
  const names = variablesOfConditions(document)!;
  for (const [a, b] of [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ]) {
    const all = { a, b };
    const variables = Object.fromEntries(names.map((name) => [name, all[name as 'a' | 'b']]));
    const plan = compilePlan(schema, chosen(document, variables))!;
    const text = await plan({ context: context(), variables });
    const result = await execute({ schema, document, contextValue: context(), variableValues: variables });
    expect(text).toBe(JSON.stringify(result.data));
  }
});

test('a query has no plan if it has a directive other than @skip and @include, or if its @skip and @include use more than four variables', () => {
  expect(variablesOfConditions(parse('{ now @other(if: true) }'))).toBe(null);
  const five = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: now @skip(if: $${name})`).join(' ');
  expect(variablesOfConditions(parse(`{ ${five} }`))).toBe(null);
});

test('a query in which @skip or @include leaves an object without fields has no plan', () => {
  const document = parse('{ project(id: "p1") { id @skip(if: true) } }');
  expect(compilePlan(schema, chosen(document, {}))).toBe(null);
});

test('a plan writes fields in the order of the query, and accepts a variable as the value of an argument', async () => {
  const plan = compilePlan(schema, parse('query ($n: Int!) { project(id: "p1") { size words(of: $n) id } }'))!;
  const text = await plan({ context: context(), variables: { n: 1 } });
  expect(text).toBe('{"project":{"size":1.5,"words":["word 0"],"id":"p1"}}');
});

test('a planned query resolves a record once when several paths reach it', async () => {
  await planned('{ projects { organization { owner { id } } } }');
  expect(asked).toEqual(['o1']);
});

test.each(['failing', 'refused', 'word', 'numbers'])('a plan fails when a field has an error: %s', async (name) => {
  await expect(planned(`{ project(id: "p1") { count ${name} organization { owner { id } } } }`)).rejects.toThrow();
});
test.each(['{ wrong { id } }', '{ promised { id } }'])(
  'a plan fails when a value has an unexpected shape: %s',
  async (source) => {
    await expect(planned(source)).rejects.toThrow();
  },
);

test.each([
  'mutation { write }',
  'query A { now } query B { now }',
  '{ __schema { queryType { name } } }',
  '{ __proto__: now }',
  '{ __proto__: __typename }',
  '{ project(id: "p1") { __proto__: id } }',
])('no query plan is created for %s', async (source) => {
  expect(await planned(source)).toBe(null);
});

describe('Plans of one field, for REST and MCP', () => {
  const asked = (source: string, variables = {}) => {
    const node = getOperationAST(parse(source))!.selectionSet.selections[0] as FieldNode;
    return planField(schema.getQueryType()!.getFields()[node.name.value]!, node)({ context: context(), variables });
  };

  test.each([
    `{ projects { ${all} } }`,
    `{ project(id: "p1") { ${all} organization { id owner { id organization { id } } } } }`,
    '{ project(id: "none") { id } }',
    '{ projects { id } }',
    '{ now }',
  ])('the plan of one field returns the same value as graphql-js: %s', async (source) => {
    const document = parse(source);
    const { data } = await execute({ schema, document, contextValue: context() });
    expect(JSON.stringify(await asked(source))).toBe(JSON.stringify(Object.values(data!)[0]));
  });

  test('the plan of one field applies variables and defaults of arguments', async () => {
    expect(await asked('query ($n: Int!) { projects(first: $n) { id } }', { n: 1 })).toEqual([{ id: 'p1' }]);
    expect(await asked('{ projects { id } }')).toHaveLength(4);
  });

  test.each(['failing', 'refused'])(
    'if the resolver of a nested field throws an error, the plan of one field throws the same error: %s',
    async (name) => {
      await expect(asked(`{ project(id: "p1") { id ${name} } }`)).rejects.toThrow('no');
    },
  );
});
