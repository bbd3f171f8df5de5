// Members common to users and groups as resources: metadata, entity tags, and the choice of attributes (RFC 7644, sections 3.9 and 3.14).
import { attributeName } from '#domain/organization/directory/filter.ts';
import { isoTime } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { locationOf } from './documents.ts';
import { ScimError } from './errors.ts';
import type { JsonObject } from './operations.ts';

interface Versioned {
  id: string;
  version: number;
  createdAt: number;
  updatedAt: number;
}

export const entityTag = ({ version }: { version: number }): string => `W/"${version}"`;

export const metaOf = (resourceType: 'User' | 'Group', record: Versioned) => ({
  resourceType,
  created: isoTime(record.createdAt),
  lastModified: isoTime(record.updatedAt),
  location: locationOf(`${resourceType}s/${record.id}`),
  version: entityTag(record),
});

const tagsOf = (header: string | undefined): string[] | undefined =>
  header?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
const matches = (tags: readonly string[], record: { version: number }): boolean =>
  tags.includes('*') || tags.includes(`"${record.version}"`);

/** Checks `If-Match`. @throws 412 when the record has changed since the client read it */
export function requireMatch({ req }: Exchange, record: { version: number }): void {
  const tags = tagsOf(req.headers['if-match']);
  if (tags && !matches(tags, record)) throw new ScimError(412, 'The resource has changed since it was read.');
}

/** Whether the client has this version already (`If-None-Match`). */
export function isKnown({ req }: Exchange, record: { version: number }): boolean {
  const tags = tagsOf(req.headers['if-none-match']);
  return tags !== undefined && matches(tags, record);
}

/** The attributes that a request chooses; names are in lower case, with a dot before a sub-attribute. */
export interface AttributeChoice {
  attributes: readonly string[] | undefined;
  excluded: readonly string[] | undefined;
}

export const namesOf = (list: string | undefined): string[] | undefined =>
  list
    ?.split(',')
    .map((name) => attributeName(name.trim()))
    .filter((name) => name !== '');

/** Whether the choice includes the attribute, or a part of it. */
export function isChosen(name: string, { attributes, excluded }: AttributeChoice): boolean {
  if (attributes?.length) return attributes.some((one) => one === name || one.startsWith(`${name}.`));
  return !excluded?.includes(name);
}

/** The id and the schemas are always returned. */
const always: ReadonlySet<string> = new Set(['id', 'schemas']);

/** The chosen attributes of a resource. */
export function chosenOf(resource: JsonObject, choice: AttributeChoice): JsonObject {
  const { attributes, excluded } = choice;
  if (!attributes?.length && !excluded?.length) return resource;
  const keeps = (path: string): boolean =>
    attributes?.length
      ? attributes.some((one) => one === path || path.startsWith(`${one}.`))
      : !excluded!.includes(path);
  const partsOf = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => partsOf(name, one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).filter(([part]) => keeps(`${name}.${part.toLowerCase()}`)));
  };
  return Object.fromEntries(
    Object.entries(resource).flatMap(([key, value]) => {
      const name = key.toLowerCase();
      if (always.has(name)) return [[key, value]];
      return isChosen(name, choice) ? [[key, partsOf(name, value)]] : [];
    }),
  );
}
