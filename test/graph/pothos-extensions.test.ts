// Extensions of Pothos that query plans rely on (src/graph/projection/plan-members.ts): without them a plan would read a column and
// bypass the check that wraps its resolver, or call a resolver where a column is enough.
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '#schema.ts';

const field = (type: string, name: string): GraphQLField<unknown, unknown> =>
  (schema.getType(type) as GraphQLObjectType).getFields()[name]!;

it('Pothos names the column of an exposed field, which has no resolver', () => {
  const { resolve, extensions } = field('Person', 'createdAt');
  expect(resolve).toBeUndefined();
  expect(extensions).toMatchObject({ pothosExposedField: 'createdAt' });
});

it('Pothos marks a resolver that a check wraps, and no other', () => {
  expect(field('Membership', 'organization').extensions).toMatchObject({ pothosResolveWrapped: true });
  expect(field('Query', 'projects').extensions).toMatchObject({ pothosResolveWrapped: true });
  expect(field('Project', 'missingConnectorKinds').extensions).toMatchObject({ pothosResolveWrapped: false });
});
