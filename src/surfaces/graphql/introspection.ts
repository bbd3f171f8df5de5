// Introspection: priced by the number of types, fields and arguments that it lists, and executed once per document, because its result
// depends only on the schema.
import {
  __Directive,
  __Field,
  __Schema,
  __Type,
  type DocumentNode,
  GraphQLObjectType,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  TypeMetaFieldDef,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { perSchema } from '#graph/projection/per-schema.ts';
import { documentCache } from './bounds.ts';

/**
 * The length with which each list of an introspection result is priced. `types` and `directives` are lists of the whole schema, so their
 * length is exact. All other lists belong to one type or one field, so their length is an average.
 */
interface Lengths {
  types: number;
  directives: number;
  fields: number;
  inputFields: number;
  enumValues: number;
  interfaces: number;
  possibleTypes: number;
  args: number;
}

/** The argument of a field's complexity function. */
export interface PriceContext {
  introspection: Lengths;
}

/** Points for one field of an introspection result. A name, a kind or a reference has about 20 bytes, far less than a field of a record. */
const pointsPerField = 0.05;

for (const type of [__Schema, __Type, __Field, __Directive]) {
  for (const field of Object.values(type.getFields())) {
    const complexity = (_args: unknown, { introspection }: PriceContext) => ({
      field: pointsPerField,
      multiplier: introspection[field.name as keyof Lengths] ?? 1,
    });
    field.extensions = { ...field.extensions, complexity };
  }
}

/** The schema for pricing, in which `__schema` and `__type` are ordinary fields of the query type. */
export const pricedSchema = perSchema((schema: GraphQLSchema): { schema: GraphQLSchema; context: PriceContext } => {
  const { types, query, ...rest } = schema.toConfig();
  const { fields, ...config } = query!.toConfig();
  const meta = Object.fromEntries(
    [SchemaMetaFieldDef, TypeMetaFieldDef].map(({ name, type, args }) => [
      name,
      { type, args: Object.fromEntries(args.map((one) => [one.name, { type: one.type }])) },
    ]),
  );
  const priced = new GraphQLSchema({
    ...rest,
    query: new GraphQLObjectType({ ...config, fields: { ...fields, ...meta } }),
    types: types.filter((type) => type !== query && !isIntrospectionType(type)),
    assumeValid: true,
  });
  return { schema: priced, context: { introspection: lengthsOf(schema) } };
});

function lengthsOf(schema: GraphQLSchema): Lengths {
  const types = Object.values(schema.getTypeMap());
  const objects = types.filter(isObjectType);
  const fields = objects.flatMap((type) => Object.values(type.getFields()));
  const perType = (all: number[]) => all.reduce((sum, one) => sum + one, 0) / types.length;
  const interfaces = perType(objects.map((type) => type.getInterfaces().length));
  return {
    types: types.length,
    directives: schema.getDirectives().length,
    fields: fields.length / types.length,
    inputFields: perType(types.filter(isInputObjectType).map((type) => Object.keys(type.getFields()).length)),
    enumValues: perType(types.filter(isEnumType).map((type) => type.getValues().length)),
    interfaces,
    possibleTypes: interfaces,
    args: fields.reduce((sum, { args }) => sum + args.length, 0) / Math.max(1, fields.length),
  };
}

/** Maximum number of cached introspection results. */
const keptAnswers = 8;

/** Caches the result of a document that contains only introspection and no variables. */
export function introspectionCache(): Plugin {
  const answers = documentCache<object>(keptAnswers);
  const onlyIntrospects = new WeakMap<DocumentNode, boolean>();
  return {
    onExecute({ args: { document }, setResultAndStopExecution }) {
      const cachable = onlyIntrospects.get(document) ?? isIntrospection(document);
      onlyIntrospects.set(document, cachable);
      if (!cachable) return undefined;
      const text = document.loc!.source.body;
      const answer = answers.get(text);
      if (answer) return setResultAndStopExecution(answer as never);
      return {
        onExecuteDone({ result }) {
          if ('data' in result && !result.errors) answers.set(text, { data: result.data });
        },
      };
    },
  };
}

function isIntrospection({ definitions }: DocumentNode): boolean {
  const [operation, ...others] = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (!operation || others.length > 0 || operation.variableDefinitions?.length) return false;
  const introspects = (one: SelectionNode) => one.kind === Kind.FIELD && /^__(schema|type)$/.test(one.name.value);
  return operation.selectionSet.selections.every(introspects);
}
