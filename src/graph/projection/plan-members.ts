// The synchronous members of a planned result: columns of a row, and values of synchronous resolvers.
import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Context } from '../context.ts';

export type PlanRow = Record<string, unknown>;
export type Field = GraphQLField<unknown, unknown>;

/** Thrown when a plan cannot be used: the document is not suitable for plans, or a value does not match its type. */
export class Unplanned extends Error {}

/** A scalar, an enum, or a list of them; `constant` is the value of `__typename`. */
export type Member = { key: string; field: Field } | { key: string; constant: string };

export const isMember = ({ type, args }: Field): boolean => isLeafType(getNamedType(type)) && args.length === 0;

/** The column of a field without a resolver of its own. */
export function columnOf({ name, resolve, extensions }: Field): string | undefined {
  if (!resolve) return name;
  return extensions.pothosResolveWrapped ? undefined : (extensions.pothosExposedField as string | undefined);
}

/** Creates the members of a row, and collects the promises among them. */
type Make = (row: PlanRow, context: Context, promises: Promise<unknown>[]) => PlanRow;

/** The members of each row as one object, for JSON. */
export type Members = (rows: readonly PlanRow[], context: Context) => readonly PlanRow[] | Promise<readonly PlanRow[]>;

export function compileMembers(members: readonly Member[]): Members {
  const make = compileMake(members);
  return (rows, context) => {
    const promises: Promise<unknown>[] = [];
    const made = rows.map((row) => make(row, context, promises));
    return promises.length === 0 ? made : Promise.all(promises).then(() => withoutPromises(made));
  };
}

/**
 * Compiles the members into a function that creates the result for a row as one object literal. A loop over the members would be slower, because
 * it would look up each member by its name, in the row and in the result.
 */
function compileMake(members: readonly Member[]): Make {
  const used: unknown[] = [];
  const use = (what: unknown) => `f${used.push(what) - 1}`;
  const literal = members.map((member) => {
    const key = JSON.stringify(member.key);
    if ('constant' in member) return `${key}: ${JSON.stringify(member.constant)}`;
    const column = columnOf(member.field);
    if (column === undefined) return `${key}: ${use(resolving(member.field))}(row, context, promises)`;
    return `${key}: ${use(completion(member.field.type))}(row[${JSON.stringify(column)}])`;
  });
  const names = used.map((_, i) => `f${i}`);
  return new Function(...names, `return (row, context, promises) => ({ ${literal.join(', ')} });`)(...used);
}

function resolving({ type, resolve }: Field): Make {
  const complete = completion(type);
  return (row, context, promises) => {
    const value = resolve!(row, {}, context, undefined as never);
    if (!isPromise(value)) return complete(value) as never;
    const completed = Promise.resolve(value).then(complete);
    promises.push(completed);
    // If another member fails first, nobody awaits this promise. Its rejection is handled here, so that it does not end the process.
    completed.catch(() => {});
    return completed as never;
  };
}

async function withoutPromises(made: readonly PlanRow[]): Promise<readonly PlanRow[]> {
  for (const one of made) {
    for (const [key, value] of Object.entries(one)) if (isPromise(value)) one[key] = await value;
  }
  return made;
}

/** Converts values of the type for output; null for no value. */
export function completion(type: GraphQLOutputType): (value: unknown) => unknown {
  if (isNonNullType(type)) {
    const complete = completion(type.ofType);
    return (value) => {
      const completed = complete(value);
      if (completed === null) throw new Unplanned();
      return completed;
    };
  }
  if (isListType(type)) {
    const complete = completion(type.ofType);
    return (value) => {
      if (value == null) return null;
      if (!Array.isArray(value)) throw new Unplanned();
      return value.map(complete);
    };
  }
  if (!isLeafType(type)) throw new Unplanned();
  return (value) => {
    if (value == null) return null;
    if (typeof value === 'object' && (value instanceof Error || isPromise(value))) throw new Unplanned();
    const completed = type.serialize(value);
    if (completed == null) throw new Unplanned();
    return completed;
  };
}

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
