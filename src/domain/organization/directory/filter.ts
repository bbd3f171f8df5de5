// Filters of SCIM (RFC 7644, section 3.4.2.2), parsed in time linear in their length. Attribute names are compared without regard to case;
// the prefix of a schema is removed.
import { invalid } from '#foundation/problem.ts';
import { scimBounds } from './bounds.ts';

const comparators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
export type Comparator = (typeof comparators)[number];
export type FilterValue = string | number | boolean | null;

export type Filter =
  | { kind: 'and' | 'or'; of: Filter[] }
  | { kind: 'not'; of: Filter }
  /** The value is null for the operator `pr` (present). */
  | { kind: 'compare'; attribute: string; comparator: Comparator; value: FilterValue }
  /** Requires that a multi-valued attribute has a value that satisfies `of`. */
  | { kind: 'value'; attribute: string; of: Filter };

/** The name of an attribute in lower case, without the prefix of its schema. */
export const attributeName = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.startsWith('urn:') ? lower.slice(lower.lastIndexOf(':') + 1) : lower;
};

const token = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([\w$:.+-]+))/y;

/** Parses a filter. @param path Name of the parameter in errors. @throws 400 for text that is not a filter, or is too long */
export function parseFilter(text: string, path = 'filter'): Filter {
  const wrong = (why: string) => invalid.field(path, why);
  if (text.length > scimBounds.filter) throw wrong(`must be at most ${scimBounds.filter} characters`);
  const tokens = tokensOf(text, wrong);
  let position = 0;
  let comparisons = 0;
  const peek = () => tokens[position]?.toLowerCase();
  const take = (): string => tokens[position++] ?? fail();
  const fail = (): never => {
    const found = tokens[position];
    throw wrong(found === undefined ? 'ends too early' : `is invalid at ${found}`);
  };
  const expect = (word: string) => void (peek() === word ? position++ : fail());

  const joined = (kind: 'or' | 'and', part: () => Filter): Filter => {
    const of = [part()];
    while (peek() === kind) {
      position++;
      of.push(part());
    }
    return of.length === 1 ? of[0]! : { kind, of };
  };
  const any = (): Filter => joined('or', () => joined('and', one));
  const grouped = (open: string, close: string): Filter => {
    expect(open);
    const inner = any();
    expect(close);
    return inner;
  };

  function one(): Filter {
    if (peek() === '(') return grouped('(', ')');
    if (peek() === 'not') {
      position++;
      return { kind: 'not', of: grouped('(', ')') };
    }
    if (!/^[a-z$]/i.test(peek() ?? '')) fail();
    const attribute = attributeName(take());
    if (peek() !== '[') return compare(attribute);
    const selected: Filter = { kind: 'value', attribute, of: grouped('[', ']') };
    // Entra ID compares a sub-attribute of the selected value: emails[type eq "work"].value eq "a@b.example".
    return peek()?.startsWith('.')
      ? { kind: 'and', of: [selected, compare(attribute + take().toLowerCase())] }
      : selected;
  }

  function compare(attribute: string): Filter {
    if (++comparisons > scimBounds.comparisons) throw wrong(`must have at most ${scimBounds.comparisons} comparisons`);
    const comparator = peek() as Comparator;
    if (!comparators.includes(comparator)) fail();
    position++;
    return { kind: 'compare', attribute, comparator, value: comparator === 'pr' ? null : readValue(take(), wrong) };
  }

  const filter = any();
  if (position < tokens.length) fail();
  return filter;
}

function tokensOf(text: string, wrong: (why: string) => Error): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  const end = text.trimEnd().length;
  while (token.lastIndex < end) {
    const from = token.lastIndex;
    const [, sign, quoted, word] = token.exec(text) ?? [];
    const found = sign ?? quoted ?? word;
    if (found === undefined) throw wrong(`is invalid at character ${from + 1}`);
    tokens.push(found);
  }
  return tokens;
}

/** A comparison's value is JSON (RFC 7644, section 3.4.2.2, `compValue`). */
function readValue(text: string, wrong: (why: string) => Error): FilterValue {
  let value: unknown;
  try {
    value = JSON.parse(/^(true|false|null)$/i.test(text) ? text.toLowerCase() : text);
  } catch {
    throw wrong(`has an invalid value ${text}: quote texts`);
  }
  if (typeof value === 'string' && value.includes('\0')) throw wrong('has a text with a NUL character');
  return value as FilterValue;
}
