// Reads the operations of a PATCH (RFC 7644, section 3.5.2). Identity providers write `Add` and `Replace`, and send several attributes as
// the members of one value.
import { scimBounds } from '#domain/organization/directory/bounds.ts';
import { ScimError } from './errors.ts';
import { type Path, parsePath } from './path.ts';

export interface PatchOperation extends Path {
  op: 'add' | 'replace' | 'remove';
  value: unknown;
  /** Whether the request names the attribute in `path`. An unknown attribute is refused there, but it is ignored as a key in `value`. */
  isNamed: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The member with the name, regardless of case. */
export const readMember = (object: JsonObject, name: string): unknown =>
  Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];

const wrong = (detail: string) => new ScimError(400, detail, 'invalidSyntax');

/** Converts the body of a resource into operations, each of which sets one attribute. */
export const operationsOfBody = (body: unknown): PatchOperation[] => {
  if (!isObject(body)) throw wrong('The body must be a JSON object.');
  return Object.entries(body).flatMap(([key, value]) => memberOperation('replace', key, value));
};

/** Converts a key of a JSON object and its value into an operation. A key that cannot be the path of an attribute yields no operation. */
function memberOperation(op: PatchOperation['op'], key: string, value: unknown): PatchOperation[] {
  const isPath = /^(urn:|[a-z$])/i.test(key) && key.length <= scimBounds.filter;
  return isPath ? [{ op, ...parsePath(key), value, isNamed: false }] : [];
}

/** Reads the operations of a PATCH. @throws 400 for a body that is not a PATCH, or has too many operations */
export function operationsOfPatch(body: unknown): PatchOperation[] {
  const listed = isObject(body) ? readMember(body, 'operations') : undefined;
  if (!Array.isArray(listed) || listed.length === 0) throw wrong('Operations: must be a list with at least one entry.');
  if (listed.length > scimBounds.operations)
    throw wrong(`Operations: must be at most ${scimBounds.operations} entries.`);
  return listed.flatMap((one, index) => operationsOf(one, `Operations.${index}`));
}

function operationsOf(one: unknown, name: string): PatchOperation[] {
  if (!isObject(one)) throw wrong(`${name}: must be an object.`);
  const op = String(readMember(one, 'op')).toLowerCase() as PatchOperation['op'];
  if (!['add', 'replace', 'remove'].includes(op)) throw wrong(`${name}.op: must be "add", "replace" or "remove".`);
  const [path, value] = [readMember(one, 'path'), readMember(one, 'value')];
  if (path !== undefined && typeof path !== 'string') throw wrong(`${name}.path: must be a string.`);
  if (path) return [{ op, ...parsePath(path), value, isNamed: true }];
  if (op === 'remove') throw new ScimError(400, `${name}.path: is required if op is "remove".`, 'noTarget');
  if (!isObject(value))
    throw new ScimError(400, `${name}.value: must be an object if there is no path.`, 'invalidValue');
  return Object.entries(value).flatMap(([key, member]) => memberOperation(op, key, member));
}

const readOnly: ReadonlySet<string> = new Set(['id', 'meta', 'schemas', 'groups']);
/** Attributes of RFC 7643 that the service does not store. */
const ignored: ReadonlySet<string> = new Set([
  ...[
    'nickname',
    'profileurl',
    'title',
    'usertype',
    'preferredlanguage',
    'locale',
    'timezone',
    'password',
    'phonenumbers',
  ],
  ...['ims', 'photos', 'addresses', 'entitlements', 'roles', 'x509certificates', ''],
]);

/**
 * Handles an operation on an attribute that the service does not store: the operation is ignored if RFC 7643 defines the attribute, or if
 * the request names the attribute only as a key in `value`. @throws 400 if `path` names an attribute that is read-only or unknown
 */
export function refuseUnknown({ attribute, isNamed }: PatchOperation): void {
  if (!isNamed || ignored.has(attribute)) return;
  if (readOnly.has(attribute)) throw new ScimError(400, `path: ${attribute} is read-only.`, 'mutability');
  throw new ScimError(400, `path: ${attribute} is not an attribute of this resource.`, 'invalidPath');
}

/** The text of a value; null for an absent or empty one. Entra ID may wrap a single value in a list. @throws 400 for another type */
export function readTextValue(attribute: string, value: unknown): string | null {
  const single = unwrapped(value);
  if (single === undefined || single === null || single === '') return null;
  if (typeof single === 'string') return single;
  throw new ScimError(400, `${attribute}: must be a string.`, 'invalidValue');
}

/** A boolean, which Entra ID may send as the text "False". @throws 400 for another value */
export function readBooleanValue(attribute: string, value: unknown): boolean {
  const single = unwrapped(value);
  if (typeof single === 'boolean') return single;
  if (typeof single === 'string' && /^(true|false)$/i.test(single)) return single.toLowerCase() === 'true';
  throw new ScimError(400, `${attribute}: must be true or false.`, 'invalidValue');
}

function unwrapped(value: unknown): unknown {
  const [only] = Array.isArray(value) && value.length === 1 ? value : [value];
  return only !== value && isObject(only) ? readMember(only, 'value') : only;
}
