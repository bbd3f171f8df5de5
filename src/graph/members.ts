// The members of a record that are sent exactly as stored, declared by name, type and description: `members(t, { id: string('…') })`.
// Relations are declared in the same way. Fields with a resolver (`t.field`) stand between them, in the order in which the type lists them.
import { type FieldMap, FieldRef, type ShapeFromTypeParam, type TypeParam } from '@pothos/core';
import type { Rule } from '#access/gate.ts';
import type { builder } from './builder.ts';
import type { MemberOptions } from './exposure.ts';

type Types = typeof builder.$inferSchemaTypes;

interface Options extends MemberOptions {
  /** The cost of a long text in points (`weightOf`); for a list, the cost of one element and the maximum number of elements. */
  complexity?: number | { field: number; multiplier: number };
}

/** The type and description of a member whose column holds values of type `Value`. */
interface Member<Value> {
  kind: 'member';
  type: unknown;
  nullable: boolean;
  options: Options & { description: string };
  /** This member exists only for the compiler and is never set. */
  accepts?: (value: Value) => void;
}

const declare =
  <Value>(type: unknown) =>
  (description: string, options?: Options): Member<Value> => ({
    kind: 'member',
    type,
    nullable: false,
    options: { description, ...options },
  });
const declareNullable =
  <Value>(type: unknown) =>
  (description: string, options?: Options): Member<Value | null | undefined> => ({
    ...declare(type)(description, options),
    nullable: true,
  });

export const string = declare<string>('String');
export const stringOrNull = declareNullable<string>('String');
export const strings = declare<readonly string[]>(['String']);
export const stringsOrNull = declareNullable<readonly string[]>(['String']);
export const boolean = declare<boolean>('Boolean');
export const booleanOrNull = declareNullable<boolean>('Boolean');
export const int = declare<number>('Int');
export const intOrNull = declareNullable<number>('Int');
export const safeInt = declare<number>('SafeInt');
export const safeIntOrNull = declareNullable<number>('SafeInt');
export const float = declare<number>('Float');
export const floatOrNull = declareNullable<number>('Float');
export const epochMs = declare<number>('EpochMs');
export const epochMsOrNull = declareNullable<number>('EpochMs');

/** A member of another type: an enumeration, a record, or a list `[Type]` of them. */
export const typed = <T extends TypeParam<Types>>(type: T, description: string, options?: Options) =>
  declare<ShapeFromTypeParam<Types, T, false>>(type)(description, options);
export const typedOrNull = <T extends TypeParam<Types>>(type: T, description: string, options?: Options) =>
  declareNullable<ShapeFromTypeParam<Types, T, false>>(type)(description, options);

interface RelationOptions {
  /** Maximum number of related records, newest first; absent means all. */
  limit?: number;
  /** The graph type of the related records, for a model with several types. */
  type?: object;
}

/** A member that returns related records. The model has a relation with the member's name. Only callers with the scope `link` may follow it. */
class Relation {
  readonly kind: 'belongsTo' | 'hasMany';
  readonly options: { link: Rule; description: string } & RelationOptions;

  constructor(kind: Relation['kind'], options: Relation['options']) {
    this.kind = kind;
    this.options = options;
  }
}

export const belongsTo = (link: Rule, description: string, options?: Omit<RelationOptions, 'limit'>) =>
  new Relation('belongsTo', { link, description, ...options });
export const hasMany = (link: Rule, description: string, options?: RelationOptions) =>
  new Relation('hasMany', { link, description, ...options });

/**
 * Compares the declared members with the type of the row. A declaration does not compile if the row has no property with the name of the member,
 * or if this property may have values that the declared type of the member does not include.
 */
type OfRow<Row, D> = {
  [K in keyof D]: D[K] extends { kind: 'member' }
    ? K extends keyof Row
      ? Member<Awaited<Row[K]>>
      : 'The row has no such member.'
    : D[K];
};

/**
 * Declares the fields of a graph type. The parameter types are shallow on purpose. With exact types, the compiler would compare the types of
 * Pothos here, and would need three times as much time and memory.
 */
export function members<Row, D extends Record<string, object>>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Row>,
  declared: D & OfRow<Row, D>,
): FieldMap {
  const fieldOf = (name: string, member: object) => {
    if (member instanceof FieldRef) return member;
    if (member instanceof Relation) return t[member.kind](name, member.options);
    const { type, nullable, options } = member as Member<never>;
    return t.expose(name as never, { ...options, type, nullable } as never);
  };
  return Object.fromEntries(
    Object.entries(declared).map(([name, member]) => [name, fieldOf(name, member)]),
  ) as FieldMap;
}
