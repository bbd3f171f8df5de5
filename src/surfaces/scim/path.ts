// The path of an operation of a PATCH (RFC 7644, figure 7): an attribute, a filter of its values, a sub-attribute.

import { scimBounds } from '#domain/organization/directory/bounds.ts';
import { attributeName, type Filter, parseFilter } from '#domain/organization/directory/filter.ts';
import { ScimError } from './errors.ts';

export interface Path {
  /**
   * Name of the attribute in lower case. It is empty for an attribute of a schema extension, because the service stores no such attributes.
   */
  attribute: string;
  filter?: Filter | undefined;
  sub?: string | undefined;
}

const pattern = /^((?:urn:[\w:.-]+:)?[\w$-]+)(?:(\[.*\])|\.([\w$-]+))?(?:(?<=\])\.([\w$-]+))?$/is;
const extension = /^urn:ietf:params:scim:schemas:extension:/i;

/** Parses a path. @throws 400 for a text that is not a path */
export function parsePath(text: string): Path {
  if (text.length > scimBounds.filter)
    throw new ScimError(400, `path: must be at most ${scimBounds.filter} characters.`, 'invalidPath');
  if (extension.test(text)) return { attribute: '' };
  const [, name, selected, direct, sub] = pattern.exec(text) ?? [];
  if (name === undefined) throw new ScimError(400, `path: ${text} is invalid.`, 'invalidPath');
  return {
    attribute: attributeName(name),
    filter: selected === undefined ? undefined : parseFilter(selected.slice(1, -1), 'path'),
    sub: (direct ?? sub)?.toLowerCase(),
  };
}
