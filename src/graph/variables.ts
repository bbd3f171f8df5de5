// Errors in the variables of an operation, by path and worded like those of request bodies: GraphQL reports them only as text.
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
} from 'graphql';
import { type FieldError, invalid, type Problem } from '#foundation/problem.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Called when an execution has failed. Returns 400 with the path of each variable that GraphQL refuses; undefined when all variables are
 * valid.
 */
export function refusedVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operationName, values: given }: { operationName?: string | null | undefined; values: Values | null | undefined },
): Problem | undefined {
  const values = given ?? {};
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  const errors = definitions.flatMap(({ variable, type: node, defaultValue }) => {
    const { value: name } = variable.name;
    const type = typeFromAST(schema, node as never);
    if (!isInputType(type) || (values[name] === undefined && defaultValue)) return [];
    // The argument `input` is the body of the request, so it is not part of the path.
    return [...errorsOf(values[name], type, name === 'input' ? [] : [name])];
  });
  return errors.length > 0 ? invalid.fields(errors) : undefined;
}

function* errorsOf(value: unknown, type: GraphQLInputType, path: readonly (string | number)[]): Generator<FieldError> {
  const error = (message: string): FieldError => ({ path: path.join('.'), message });
  if (isNonNullType(type)) {
    if (value === undefined) yield error('is required');
    else if (value === null) yield error('must not be null');
    else yield* errorsOf(value, type.ofType, path);
  } else if (value == null) return;
  else if (isListType(type)) {
    if (!Array.isArray(value)) return yield* errorsOf(value, type.ofType, path);
    for (const [index, entry] of value.entries()) yield* errorsOf(entry, type.ofType, [...path, index]);
  } else if (isInputObjectType(type)) {
    if (typeof value !== 'object' || Array.isArray(value)) return yield error('must be an object');
    const fields = type.getFields();
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) yield error(`has no field ${JSON.stringify(name)}`);
    }
    for (const field of Object.values(fields)) {
      const member = (value as Values)[field.name];
      if (member !== undefined || isRequiredInputField(field))
        yield* errorsOf(member, field.type, [...path, field.name]);
    }
  } else if (isLeafType(type)) {
    try {
      type.parseValue(value);
    } catch (refused) {
      yield error((refused as Error).message.replace(/\.? Did you mean .*$|\.$/, ''));
    }
  }
}
