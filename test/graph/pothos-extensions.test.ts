// Pothos writes extensions on fields, and query plans rely on them (src/graph/projection/plan-members.ts). Without these extensions, a plan
// would read a column and bypass the check that wraps the resolver of the field, or would call a resolver although reading a column is
// enough.
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { builder } from '#graph/builder.ts';
import { epochMs, members, string } from '#graph/members.ts';
import { schema } from '#schema.ts';

const field = (type: string, name: string): GraphQLField<unknown, unknown> =>
  (schema.getType(type) as GraphQLObjectType).getFields()[name]!;

it('Pothos names the column of an exposed field in the extensions of the field, and gives the field no resolver', () => {
  const { resolve, extensions } = field('Person', 'createdAt');
  expect(resolve).toBeUndefined();
  expect(extensions).toMatchObject({ pothosExposedField: 'createdAt' });
});

it('Pothos marks a resolver that a check wraps, and no other', () => {
  expect(field('Membership', 'organization').extensions).toMatchObject({ pothosResolveWrapped: true });
  expect(field('Query', 'projects').extensions).toMatchObject({ pothosResolveWrapped: true });
  expect(field('Project', 'missingConnectorKinds').extensions).toMatchObject({ pothosResolveWrapped: false });
});

it('TypeScript rejects a field whose column is missing or has another type; `npm run types` checks this', () => {
  const type = builder.objectRef<{ name: string; since: number | null }>('MemberTypes').implement({
    fields: (t) =>
      members(t, {
        name: string('The name.'),
        // @ts-expect-error the column may be null
        since: epochMs('The time.'),
        // @ts-expect-error the row has no such column
        nickname: string('The nickname.'),
      }),
  });
  expect(type.name).toBe('MemberTypes');
});
