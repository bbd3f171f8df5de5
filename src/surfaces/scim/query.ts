// Parameters of lists, from the query or from the body of a search (RFC 7644, sections 3.4.2 and 3.4.3).

import { directoryPage } from '#domain/organization/directory/bounds.ts';
import { attributeName, parseFilter } from '#domain/organization/directory/filter.ts';
import type { ListRequest } from '#domain/organization/directory/lists.ts';
import { invalid } from '#foundation/problem.ts';
import { isObject, readMember } from './operations.ts';
import { type AttributeChoice, namesOf } from './resource.ts';

export interface ListQuery extends AttributeChoice {
  request: ListRequest;
}

type Read = (name: string) => string | undefined;

export const choiceOf = (search: string): AttributeChoice => readChoice(inQuery(search));

const readChoice = (read: Read): AttributeChoice => ({
  attributes: namesOf(read('attributes')),
  excluded: namesOf(read('excludedAttributes')),
});

/** A parameter of the query. Its name is compared without regard to case. */
function inQuery(search: string): Read {
  const parameters = new Map([...new URLSearchParams(search)].map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => parameters.get(name.toLowerCase());
}

/** A member of the body of a search; lists are joined. @throws 400 for a member of another type */
function inBody(body: unknown): Read {
  if (!isObject(body)) throw invalid('The body must be a JSON object.');
  return (name) => {
    const value = readMember(body, name.toLowerCase());
    if (value === undefined || value === null) return undefined;
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
    if (isList) return value.join(',');
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw invalid.field(name, 'must be a string, a number or a list of strings');
  };
}

export const queryOfSearch = (search: string): ListQuery => readQuery(inQuery(search));
export const queryOfBody = (body: unknown): ListQuery => readQuery(inBody(body));

function readQuery(read: Read): ListQuery {
  const [filter, sortBy] = [read('filter'), read('sortBy')];
  const startIndex = Math.max(1, wholeNumber(read, 'startIndex', 1));
  const limit = Math.min(directoryPage.max, Math.max(0, wholeNumber(read, 'count', directoryPage.default)));
  return {
    ...readChoice(read),
    request: {
      filter: filter ? parseFilter(filter) : undefined,
      sortBy: sortBy ? attributeName(sortBy) : undefined,
      descending: /^descending$/i.test(read('sortOrder') ?? ''),
      offset: startIndex - 1,
      limit,
    },
  };
}

function wholeNumber(read: Read, name: string, absent: number): number {
  const text = read(name);
  if (text === undefined || text === '') return absent;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw invalid.field(name, 'must be an integer');
}
