// Executes an operation as a plan, level by level: a relation is resolved for all rows of a level before the next level, and a shared
// row (the organization of fifty projects) is produced once (bench/README.md). A plan produces error-free results only and throws on any
// error: /graphql then lets yoga execute the query, REST and MCP respond with that error.
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
import { asRecord, asText, type Form, type PlanPart, type PlanRun, type Produce, type Relation } from './plan-forms.ts';
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

/** Runs the plan and resolves to the result. @throws an error of any kind if GraphQL would return a result with errors */
export type Plan<T = string> = (run: PlanRun) => Promise<T>;

interface Producer<T> {
  produce: Produce<T>;
  /**
   * The members of an object that has only scalar members. A list of such objects is written by one `JSON.stringify`, which takes a quarter
   * less CPU.
   */
  members?: Members | undefined;
}
/**
 * Compiles the plan of a document that contains one query and no introspection; returns null for any other document. Ignores directives
 * (conditions.ts).
 */
export function compilePlan(schema: GraphQLSchema, document: DocumentNode): Plan | null {
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations as [OperationDefinitionNode];
  if (operations.length > 1 || operation.operation !== 'query') return null;
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  try {
    const planner = new Planner(asText, fragments);
    const parts = planner.partsOf(schema.getQueryType()!, [operation.selectionSet]);
    return async (run) => (await planner.produceRows(parts, [{}], run))[0]!;
  } catch (error) {
    if (error instanceof Unplanned) return null;
    throw error;
  }
}

/**
 * Creates the plan of one root field; a run of the plan resolves to the value of the field. The document must select only this field, and
 * must have no fragments.
 */
export function planField(field: Field, node: FieldNode): Plan<unknown> {
  const planner = new Planner(asRecord, new Map());
  const relation = planner.relationOf(field.name, field, [node]);
  return async (run) => (await planner.produceRelation(relation, [{}], run))[0];
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

class Planner<T> {
  readonly #form: Form<T>;
  readonly #fragments: Fragments;

  constructor(form: Form<T>, fragments: Fragments) {
    this.#form = form;
    this.#fragments = fragments;
  }

  partsOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): PlanPart<T>[] {
    if (!isObjectType(type) || type.isTypeOf) throw new Unplanned();
    const parts: PlanPart<T>[] = [];
    let members: Member[] = [];
    const endMembers = () => {
      if (members.length > 0) parts.push(compileMembers(members));
      members = [];
    };
    for (const [key, nodes] of collect(sets, this.#fragments)) {
      const [node] = nodes as [FieldNode];
      const field = type.getFields()[node.name.value];
      if (key === '__proto__') throw new Unplanned();
      if (node.name.value === '__typename') members.push({ key, constant: type.name });
      else if (!field) throw new Unplanned();
      else if (isMember(field)) members.push({ key, field });
      else {
        endMembers();
        parts.push(this.relationOf(key, field, nodes));
      }
    }
    endMembers();
    // If no part is left, the conditions in the document (`@include`, `@skip`) exclude every field.
    if (parts.length === 0) throw new Unplanned();
    return parts;
  }

  relationOf(key: string, field: Field, nodes: readonly FieldNode[]): Relation<T> {
    const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return { key, name: `"${key}":`, field, node: nodes[0]!, produce: this.#producerOf(field.type, below).produce };
  }

  #producerOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Producer<T> {
    if (isLeafType(getNamedType(type))) {
      const complete = completion(type);
      return { produce: (values) => values.map((value) => this.#form.whole(complete(value))) };
    }
    if (isNonNullType(type)) {
      const { produce, members } = this.#producerOf(type.ofType, sets);
      const check: Produce<T> = (values, run) => {
        if (values.some((value) => value == null)) throw new Unplanned();
        return produce(values, run);
      };
      return { produce: check, members };
    }
    if (isListType(type)) return { produce: this.#eachOnce(this.#listsOf(this.#producerOf(type.ofType, sets))) };
    const parts = this.partsOf(type, sets);
    const members = parts.length === 1 && typeof parts[0] === 'function' ? parts[0] : undefined;
    return { produce: this.#eachOnce((rows, run) => this.produceRows(parts, rows as PlanRow[], run)), members };
  }

  /** Converts each distinct value only once. Null stays null. */
  #eachOnce(produce: Produce<T>): Produce<T> {
    return async (values, run) => {
      const distinct = [...new Set(values)].filter((value) => value != null);
      if (!distinct.every(isRecord)) throw new Unplanned();
      const produced = await produce(distinct, run);
      if (distinct.length === values.length) return produced;
      const resultOf = new Map(distinct.map((value, i) => [value as unknown, produced[i]!]));
      return values.map((value) => (value == null ? this.#form.whole(null) : resultOf.get(value)!));
    };
  }

  #listsOf({ produce, members }: Producer<T>): Produce<T> {
    return async (lists, run) => {
      if (!lists.every(Array.isArray)) throw new Unplanned();
      const rows: unknown[] = lists.flat();
      if (members && rows.every(isRecord)) {
        return Promise.all(lists.map(async (list) => this.#form.whole(await members(list as PlanRow[], run.context))));
      }
      const produced = await produce(rows, run);
      let end = 0;
      return lists.map((list) => {
        const begin = end;
        end += (list as unknown[]).length;
        return this.#form.list(produced.slice(begin, end));
      });
    };
  }

  async produceRows(parts: readonly PlanPart<T>[], rows: readonly PlanRow[], run: PlanRun): Promise<readonly T[]> {
    const columns = await Promise.all(
      parts.map(async (part) =>
        typeof part === 'function' ? part(rows, run.context) : this.produceRelation(part, rows, run),
      ),
    );
    if (parts.length === 1 && typeof parts[0] === 'function') return columns[0]!.map((one) => this.#form.whole(one));
    return rows.map((_, row) => this.#form.record(parts, columns, row));
  }

  async produceRelation({ field, node, produce }: Relation<T>, rows: readonly PlanRow[], run: PlanRun) {
    const args = getArgumentValues(field, node, run.variables);
    const column = columnOf(field);
    const values: unknown[] = [];
    try {
      for (const row of rows) {
        values.push(column === undefined ? field.resolve!(row, args, run.context, undefined as never) : row[column]);
      }
    } catch (error) {
      // Nothing awaits the earlier promises after this error, so their rejections are handled here.
      void Promise.allSettled(values);
      throw error;
    }
    return produce(values.some(isPromise) ? await settled(values) : values, run);
  }
}

const isRecord = (value: unknown) =>
  typeof value === 'object' && value !== null && !isPromise(value) && !(value instanceof Error);

/** Waits once for a promise that several rows share. */
async function settled(values: readonly unknown[]): Promise<unknown[]> {
  const distinct = [...new Set(values)];
  const found = await Promise.all(distinct);
  if (distinct.length === values.length) return found;
  const resultOf = new Map(distinct.map((value, i) => [value, found[i]]));
  return values.map((value) => resultOf.get(value));
}
