// Times as dates. The API writes epoch milliseconds, which JSON and every language can compare; a Date is created on demand.
import { times } from './api.ts';

type Times = typeof times;
type DateOf<Value> = Value extends number | string ? Date : Value extends readonly number[] ? Date[] : Value;

/** A record in which each time, at every depth, is a `Date`. */
export type WithDates<T> = T extends readonly (infer Entry)[]
  ? WithDates<Entry>[]
  : T extends object
    ? { [K in keyof T]: K extends keyof Times ? (Times[K] extends 0 ? T[K] : DateOf<T[K]>) : WithDates<T[K]> }
    : T;

/** A copy of a record, or of a list of records, in which each time is a Date. */
export function withDates<T>(value: T): WithDates<T>;
export function withDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withDates(entry));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, dated(name, member)]));
}

function dated(name: string, member: unknown): unknown {
  const unit = Object.hasOwn(times, name) ? times[name as keyof Times] : undefined;
  if (unit === undefined) return withDates(member);
  if (unit === 0) return member;
  if (Array.isArray(member)) return member.map((entry) => dated(name, entry));
  if (typeof member === 'number') return new Date(member * unit);
  return typeof member === 'string' ? new Date(member) : member;
}
