// Executes a query as a plan that writes its `data`, level by level: a relation is resolved for all rows of a level before the next
// level, and a shared row (the organization of fifty projects) is written once (bench/README.md). A plan writes error-free results only.
// On any error it throws, and yoga executes the operation.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from '#graph/context.ts';
import {
  columnOf,
  compileMembers,
  completion,
  type Field,
  isMember,
  isPromise,
  type Member,
  type Members,
  type PlanRow,
  Unplanned,
} from './plan-members.ts';

interface Run {
  context: Context;
  /** Coerced variables. */
  variables: Record<string, unknown>;
}

/** Resolves to JSON. @throws any error when the result would contain errors */
export type Plan = (run: Run) => Promise<string>;

/** Writes values as JSON texts, in order. */
type Write = (values: readonly unknown[], run: Run) => string[] | Promise<string[]>;
interface Writer {
  write: Write;
  /** The members of an object that has only scalar ones: its list is one `JSON.stringify`, which takes a quarter less CPU. */
  members?: Members | undefined;
}
/** A member whose values are resolved before they are written. */
interface Relation {
  key: string;
  field: Field;
  node: FieldNode;
  write: Write;
}
type Part = Members | Relation;

/** Compiles a plan; null for a document with introspection, or anything but one query. Ignores directives (conditions.ts). */
export function compilePlan(schema: GraphQLSchema, document: DocumentNode): Plan | null {
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations as [OperationDefinitionNode];
  if (operations.length > 1 || operation.operation !== 'query') return null;
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  try {
    const parts = partsOf(schema.getQueryType()!, [operation.selectionSet], fragments);
    return async (run) => (await writeRows(parts, [{}], run))[0]!;
  } catch (error) {
    if (error instanceof Unplanned) return null;
    throw error;
  }
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fields by their keys in the result. Without abstract types every fragment applies. */
function collect(sets: readonly SelectionSetNode[], fragments: Fragments, found = new Map<string, FieldNode[]>()) {
  for (const one of sets.flatMap(({ selections }) => selections)) {
    if (one.kind === Kind.FIELD) {
      const key = (one.alias ?? one.name).value;
      found.set(key, [...(found.get(key) ?? []), one]);
    } else {
      const { selectionSet } = one.kind === Kind.INLINE_FRAGMENT ? one : fragments.get(one.name.value)!;
      collect([selectionSet], fragments, found);
    }
  }
  return found;
}

function partsOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], fragments: Fragments): Part[] {
  if (!isObjectType(type) || type.isTypeOf) throw new Unplanned();
  const parts: Part[] = [];
  let members: Member[] = [];
  const endMembers = () => {
    if (members.length > 0) parts.push(compileMembers(members));
    members = [];
  };
  for (const [key, nodes] of collect(sets, fragments)) {
    const [node] = nodes as [FieldNode];
    const field = type.getFields()[node.name.value];
    if (key === '__proto__') throw new Unplanned();
    if (node.name.value === '__typename') members.push({ key, constant: type.name });
    else if (!field) throw new Unplanned();
    else if (isMember(field)) members.push({ key, field });
    else {
      endMembers();
      const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      parts.push({ key: `"${key}":`, field, node, write: writerOf(field.type, below, fragments).write });
    }
  }
  endMembers();
  // The conditions excluded everything.
  if (parts.length === 0) throw new Unplanned();
  return parts;
}

function writerOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], fragments: Fragments): Writer {
  if (isLeafType(getNamedType(type))) {
    const complete = completion(type);
    return { write: (values) => values.map((value) => JSON.stringify(complete(value))) };
  }
  if (isNonNullType(type)) {
    const { write, members } = writerOf(type.ofType, sets, fragments);
    const check: Write = (values, run) => {
      if (values.some((value) => value == null)) throw new Unplanned();
      return write(values, run);
    };
    return { write: check, members };
  }
  if (isListType(type)) return { write: eachOnce(listsOf(writerOf(type.ofType, sets, fragments))) };
  const parts = partsOf(type, sets, fragments);
  const members = parts.length === 1 && typeof parts[0] === 'function' ? parts[0] : undefined;
  return { write: eachOnce((rows, run) => writeRows(parts, rows as PlanRow[], run)), members };
}

/** Writes each distinct value once, and null directly. */
const eachOnce =
  (write: Write): Write =>
  async (values, run) => {
    const distinct = [...new Set(values)].filter((value) => value != null);
    if (!distinct.every(isRecord)) throw new Unplanned();
    const texts = await write(distinct, run);
    if (distinct.length === values.length) return texts;
    const textOf = new Map(distinct.map((value, i) => [value as unknown, texts[i]!]));
    return values.map((value) => textOf.get(value) ?? 'null');
  };

const isRecord = (value: unknown) =>
  typeof value === 'object' && value !== null && !isPromise(value) && !(value instanceof Error);

const listsOf =
  ({ write, members }: Writer): Write =>
  async (lists, run) => {
    if (!lists.every(Array.isArray)) throw new Unplanned();
    const rows: unknown[] = lists.flat();
    if (members && rows.every(isRecord)) return Promise.all(lists.map((list) => json(members, list as PlanRow[], run)));
    const texts = await write(rows, run);
    let end = 0;
    return lists.map((list) => {
      const begin = end;
      end += (list as unknown[]).length;
      return `[${texts.slice(begin, end).join()}]`;
    });
  };

const json = async (members: Members, rows: readonly PlanRow[], { context }: Run): Promise<string> =>
  JSON.stringify(await members(rows, context));

async function writeRows(parts: readonly Part[], rows: readonly PlanRow[], run: Run): Promise<string[]> {
  const columns = await Promise.all(
    parts.map(async (part) =>
      typeof part === 'function'
        ? (await part(rows, run.context)).map((one) => JSON.stringify(one))
        : writeRelation(part, rows, run),
    ),
  );
  if (parts.length === 1 && typeof parts[0] === 'function') return columns[0]!;
  return rows.map((_, row) => {
    let text = '';
    for (const [i, part] of parts.entries()) {
      text += i === 0 ? '{' : ',';
      text += typeof part === 'function' ? columns[i]![row]!.slice(1, -1) : part.key + columns[i]![row]!;
    }
    return `${text}}`;
  });
}

async function writeRelation({ field, node, write }: Relation, rows: readonly PlanRow[], run: Run): Promise<string[]> {
  const args = getArgumentValues(field, node, run.variables);
  const column = columnOf(field);
  const values: unknown[] = [];
  try {
    for (const row of rows) {
      values.push(column === undefined ? field.resolve!(row, args, run.context, undefined as never) : row[column]);
    }
  } catch (error) {
    // The earlier promises are no longer awaited.
    void Promise.allSettled(values);
    throw error;
  }
  return write(values.some(isPromise) ? await settled(values) : values, run);
}

/** Waits once for a promise that several rows share. */
async function settled(values: readonly unknown[]): Promise<unknown[]> {
  const distinct = [...new Set(values)];
  const found = await Promise.all(distinct);
  if (distinct.length === values.length) return found;
  const resultOf = new Map(distinct.map((value, i) => [value, found[i]]));
  return values.map((value) => resultOf.get(value));
}
