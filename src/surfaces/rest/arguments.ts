// Reads the arguments of a route from path, query and body; these three never mix. Text is converted to a number or a boolean only if it
// matches exactly.
import { type GraphQLInputType, getNamedType, getNullableType, isEnumType, isListType } from 'graphql';
import { type Exchange, readJson } from '#foundation/http/http.ts';
import { invalid } from '#foundation/problem.ts';
import { argumentValidator, bodyArgument, parsed } from '#graph/projection/arguments.ts';
import { bytes } from '#limits.ts';
import type { RestRoute } from './routes.ts';

export type Arguments = Record<string, unknown>;
type Reader = (values: string[]) => unknown;

/** Reads the arguments of one route; created once per route. */
export function argumentReader(route: RestRoute): (exchange: Exchange, path: string[]) => Promise<Arguments> {
  const query = route.query.map(({ name, type }) => ({ name, read: reader(name, type) }));
  const inPath = route.field.args.filter(({ name }) => route.parameters.includes(name));
  const readPath = route.parameters.map((name) => reader(name, inPath.find((one) => one.name === name)!.type));
  const validate = argumentValidator([...inPath, ...route.query]);
  // Every argument is set, at least to undefined: sofa would search elsewhere for a missing one.
  const absent: Arguments = Object.fromEntries(route.field.args.map(({ name }) => [name, undefined]));

  return async (exchange, path) => {
    const values: Arguments = {};
    if (exchange.search !== '' && query.length > 0) {
      refuseBrokenEncoding(exchange.search);
      const search = new URLSearchParams(exchange.search);
      for (const { name, read } of query) {
        const texts = search.getAll(name);
        if (texts.length > 0) values[name] = read(texts);
      }
    }
    for (let i = 0; i < path.length; i++) values[route.parameters[i]!] = readPath[i]!([path[i]!]);
    const args: Arguments = { ...absent, ...validate(values) };
    if (!route.body) return args;
    const body = await readInput(exchange, route.body);
    if (route.body.isInput) args[bodyArgument] = body;
    else Object.assign(args, body);
    return args;
  };
}

/**
 * Decodes strictly: URLSearchParams would accept `%zz` as text and replace invalid UTF-8 by U+FFFD, which would be a filter that the client
 * did not send.
 */
function refuseBrokenEncoding(search: string): void {
  if (!search.includes('%')) return;
  try {
    decodeURIComponent(search);
  } catch {
    throw invalid('The query is not valid percent-encoded UTF-8.');
  }
}

/**
 * Reads the body and validates it with the zod object of the route's record. This happens before GraphQL, because GraphQL would accept
 * `"x"` for a list and convert it to `["x"]`.
 */
async function readInput(exchange: Exchange, record: NonNullable<RestRoute['body']>): Promise<object | undefined> {
  const body = await readJson(exchange, bytes.jsonBody);
  if (body === undefined) {
    if (record.required) throw invalid('A JSON body is required.');
    return undefined;
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw invalid('The body must be a JSON object.');
  return parsed(record.zod, body);
}

function reader(name: string, type: GraphQLInputType): Reader {
  const named = getNamedType(type);
  const words = isEnumType(named) ? named.getValues().map((value) => value.name) : undefined;
  const one = (text: string): unknown => {
    if (words && !words.includes(text)) throw invalid.field(name, `must be one of ${words.join(', ')}`);
    switch (named.name) {
      case 'Int':
        if (!/^-?\d{1,10}$/.test(text) || Math.abs(Number(text)) > 2 ** 31 - 1)
          throw invalid.field(name, 'must be a 32-bit integer');
        return Number(text);
      case 'EpochMs':
      case 'SafeInt':
      case 'EpochSec':
        if (!/^-?\d{1,15}$/.test(text)) throw invalid.field(name, 'must be an integer');
        return Number(text);
      case 'Float':
        if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) throw invalid.field(name, 'must be a number');
        return Number(text);
      case 'Boolean':
        if (text !== 'true' && text !== 'false') throw invalid.field(name, 'must be true or false');
        return text === 'true';
      default:
        return text;
    }
  };
  if (isListType(getNullableType(type))) return (values) => values.map(one);
  return (values) => {
    if (values.length > 1) throw invalid.field(name, 'must not be repeated');
    return one(values[0]!);
  };
}
