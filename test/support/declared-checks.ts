// The checks that a surface derives from the declaration of a field, called as the surface calls them, without a request.
import { getVariableValues, type OperationDefinitionNode, parse } from 'graphql';
import type { Exchange } from '#foundation/http/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { argumentValidator, bodyArgument, parsed } from '#graph/projection/arguments.ts';
import { refusedVariables } from '#graph/variables.ts';
import { schema } from '#schema.ts';
import { argumentReader } from '#surfaces/rest/arguments.ts';
import type { RestRoute } from '#surfaces/rest/routes.ts';
import { type Arguments, bodyFor, documentOf, inputOf, type RootField, recordOf, type Surface } from './root-fields.ts';

/** Returns a function that computes its result only once for the same object and text. The object is a root field or a route. */
function memoized<Of extends object, Result>(compute: (of: Of, text: string) => Result) {
  const results = new Map<Of, Map<string, Result>>();
  return (of: Of, text = ''): Result => {
    const known = results.get(of) ?? new Map<string, Result>();
    results.set(of, known);
    if (!known.has(text)) known.set(text, compute(of, text));
    return known.get(text)!;
  };
}

async function problemOf(check: () => unknown): Promise<Problem | undefined> {
  try {
    await check();
  } catch (error) {
    return toProblem(error);
  }
  return undefined;
}

/** Returns the error with which the declaration of the record rejects a body; undefined if the declaration accepts the body. */
export const refusalOfBody = (surface: Surface, root: RootField, args: Arguments): Promise<Problem | undefined> =>
  problemOf(() => {
    const { zod } = recordOf(root)!;
    if (surface === 'REST') return parsed(zod, bodyFor(root.route!, args));
    const values = variablesOf(root, args);
    return parsed(zod, inputOf(root.field) ? values[bodyArgument] : values);
  });

/** The values of the variables after GraphQL's own checks. @throws 400 */
function variablesOf(root: RootField, args: Arguments): Arguments {
  const { document, definitions } = operationOf(root, Object.keys(args).join());
  const refusal = refusedVariables(schema, document, { values: args });
  if (refusal) throw refusal;
  return getVariableValues(schema, definitions, args).coerced!;
}

/** The operation that passes these arguments. */
const operationOf = memoized((root: RootField, names: string) => {
  const document = parse(documentOf(root, Object.fromEntries(names.split(',').map((name) => [name, null])), '{ id }'));
  const [operation] = document.definitions as OperationDefinitionNode[];
  return { document, definitions: operation!.variableDefinitions! };
});

/** The error for an argument beyond its declared limits. */
export const refusalOfArgument = (root: RootField, name: string, value: unknown): Promise<Problem | undefined> =>
  problemOf(() => argumentValidator(root.field.args.filter((one) => one.name === name))({ [name]: value }));

/** The error for the query string of a GET request. */
export const refusalOfQuery = ({ route }: RootField, args: Arguments, search: string): Promise<Problem | undefined> =>
  problemOf(() => {
    const path = route!.parameters.map((name) => String(args[name]));
    return readerOf(route!)({ search } as Exchange, path);
  });
const readerOf = memoized((route: RestRoute) => argumentReader(route));
