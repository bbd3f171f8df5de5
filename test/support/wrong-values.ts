// Invalid values for a member of a request record: of a wrong type, not Unicode text, outside the range of a number, or unknown words.
import { nonNullSchema } from '#graph/projection/json-schema.ts';
import { schema } from '#schema.ts';
import type { Surface } from './root-fields.ts';

/** A member of a request record, in the format of JSON Schema. */
export interface Property {
  type?: string | string[];
  format?: string;
  $ref?: string;
  anyOf?: Property[];
  items?: Property;
  properties?: Record<string, Property>;
  required?: string[];
  enum?: string[];
}

/** Replaces a reference by the named schema that it refers to, such as an enum. */
export const named = ({ $ref, ...property }: Property): Property =>
  $ref ? (nonNullSchema(schema.getType($ref.split('/').at(-1)!)!) as Property) : property;
const choices = (property: Property): Property[] =>
  (property.anyOf ?? [property.type ?? ''].flat().map((type) => ({ ...property, ...(type && { type }) }))).map(named);

const samples: Record<string, unknown> = {
  null: null,
  boolean: true,
  integer: 7,
  number: 1.5,
  string: 'text',
  array: [],
  object: {},
};
const takes = (property: Property, sample: string): boolean =>
  choices(property).some(({ type }) => type === sample || (type === 'number' && sample === 'integer'));
const wrongValues = (property: Property): unknown[] =>
  Object.keys(samples).flatMap((sample) => (takes(property, sample) ? [] : [samples[sample]]));

/**
 * Valid values for the required fields of an object. Without these values, an error would name a missing field instead of the invalid field
 * that a test sends.
 */
const requiredOf = ({ properties = {}, required = [] }: Property): Record<string, unknown> =>
  Object.fromEntries(
    required.map((name) => {
      const [choice] = choices(properties[name]!) as [Property];
      const { enum: words, type } = choice;
      return [name, words?.[0] ?? (type === 'object' ? requiredOf(choice) : samples[type as string])];
    }),
  );

interface Wrong {
  /** Names that the description must contain. */
  names: string[];
  value: unknown;
  surfaces: Surface[];
}

const both: Surface[] = ['REST', 'GraphQL'];

/**
 * Returns all invalid values of a field of a request record. If the field is an object or a list, the result also contains objects or lists
 * in which only one nested field or item is invalid.
 */
export function wrongs(names: string[], property: Property, right: unknown): Wrong[] {
  const array = choices(property).find(({ type }) => type === 'array');
  const list = wrongValues(property).map((value): Wrong => {
    // GraphQL coerces a single value to a list (October 2021, section 3.11).
    const single = array && value !== null && !wrongValues(array.items!).includes(value);
    return { names, value, surfaces: single ? ['REST'] : both };
  });
  const add = (...values: unknown[]) => list.push(...values.map((value) => ({ names, value, surfaces: both })));
  const within = (inner: Wrong[], around: (value: unknown) => unknown) =>
    list.push(...inner.map((wrong) => ({ ...wrong, value: around(wrong.value) })));
  for (const choice of choices(property)) {
    const { enum: words, type, items, properties = {} } = choice;
    if (words) add('nonsense', '', words[0]!.toUpperCase(), ` ${words[0]}`);
    else if (type === 'string') for (const bad of ['\0', '\ud800', '\udc00']) add(`${right ?? 'text'}${bad}`);
    if (type === 'integer') add(1e308, -1e308, 2 ** 53, -(2 ** 31) - 1, 1e-7, 10 ** 21);
    // The upper bound of GraphQL's Int; times have a separate scalar.
    if (type === 'integer' && choice.format !== 'int64') add(2 ** 31);
    if (items) within(wrongs(names, items, [right].flat()[0]), (value) => [value]);
    for (const [name, inner] of Object.entries(properties)) {
      const whole = { ...requiredOf(choice), ...(right as Record<string, unknown>) };
      within(wrongs([...names, name], inner, whole[name]), (value) => ({ ...whole, [name]: value }));
    }
  }
  return list;
}

/**
 * Whether an invalid value is a list of scopes whose first scope does not exist. Such a scope is refused with 403, and the error names the
 * scope instead of the field (docs/contract.md#errors).
 */
export const isUndeclaredScope = ([name]: string[], value: unknown): boolean =>
  name === 'scopes' && Array.isArray(value) && typeof value[0] === 'string';
