// The two forms of a plan's result: JSON text, and records.
import type { FieldNode } from 'graphql';
import type { Context } from '../context.ts';
import type { Field, Members, PlanRow } from './plan-members.ts';

export interface PlanRun {
  context: Context;
  /** Values of the variables, after GraphQL has coerced them. */
  variables: Record<string, unknown>;
}

/** Converts values to results, one per value and in the same order. */
export type Produce<T> = (values: readonly unknown[], run: PlanRun) => readonly T[] | Promise<readonly T[]>;
/** A field whose resolver reads the values for all records at once. `produce` converts these values to results. */
export interface Relation<T> {
  key: string;
  /** The key of the field in JSON text, with its quotes and the colon. */
  name: string;
  field: Field;
  node: FieldNode;
  produce: Produce<T>;
}
export type PlanPart<T> = Members | Relation<T>;

/** The form of a result: JSON text for /graphql, values for the APIs that process the record. */
export interface Form<T> {
  /** Writes a scalar, an object that has only scalar members, or a list of such objects. */
  whole(value: unknown): T;
  list(items: readonly T[]): T;
  /**
   * Writes one object from its parts. A part is either a group of scalar fields, whose value is an object with these fields, or a relation, whose
   * value is written under the key of the relation. `columns` contains the values of each part for all rows, and `row` is the index of the row to
   * write.
   */
  record(parts: readonly PlanPart<T>[], columns: readonly (readonly unknown[])[], row: number): T;
}

export const asText: Form<string> = {
  whole: (value) => JSON.stringify(value),
  list: (items) => `[${items.join()}]`,
  record(parts, columns, row) {
    let written = '';
    for (const [i, part] of parts.entries()) {
      written += i === 0 ? '{' : ',';
      const value = columns[i]![row];
      written += typeof part === 'function' ? JSON.stringify(value).slice(1, -1) : `${part.name}${value}`;
    }
    return `${written}}`;
  },
};

export const asRecord: Form<unknown> = {
  whole: (value) => value,
  list: (items) => items,
  record(parts, columns, row) {
    const made: PlanRow = {};
    for (const [i, part] of parts.entries()) {
      const value = columns[i]![row];
      if (typeof part === 'function') Object.assign(made, value);
      else made[part.key] = value;
    }
    return made;
  },
};
