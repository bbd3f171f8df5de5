// Reads SCIM users from request bodies and from PATCH operations, and writes users as SCIM resources (RFC 7643, section 4.1).
import { z } from 'zod';
import type { UserInput } from '#domain/lifecycle/provisioning/users.ts';
import { directoryText } from '#domain/organization/directory/bounds.ts';
import type { Filter, FilterValue } from '#domain/organization/directory/filter.ts';
import type { Related } from '#domain/organization/directory/lists.ts';
import type { DirectoryUser } from '#domain/organization/directory/model.ts';
import { emailAddress, normalizeEmail } from '#domain/organization/people/email.ts';
import { invalid } from '#foundation/problem.ts';
import { boundedText, fieldErrorsOf, nameText } from '#graph/validation.ts';
import { locationOf, schemaIds } from './documents.ts';
import { ScimError } from './errors.ts';
import {
  isObject,
  type JsonObject,
  type PatchOperation,
  readBooleanValue,
  readMember,
  readTextValue,
  refuseUnknown,
} from './operations.ts';
import { metaOf } from './resource.ts';

/** A user whose required values may be missing. */
type Draft = { [K in keyof UserInput]: UserInput[K] | null };

const emptyDraft: Draft = {
  ...{ userName: null, externalId: null, email: null, displayName: null },
  ...{ formattedName: null, givenName: null, familyName: null, active: true },
};

const nameParts = { formatted: 'formattedName', givenname: 'givenName', familyname: 'familyName' } as const;
const texts: Readonly<Record<string, 'userName' | 'externalId' | 'displayName'>> = {
  ...{ username: 'userName', externalid: 'externalId', displayname: 'displayName' },
};

/** The values of a user after the operations. @param user The present user; absent for a new user, and for a user that is replaced */
export function userInput(operations: readonly PatchOperation[], user?: UserInput, active = true): UserInput {
  const draft: Draft = user ? { ...user } : { ...emptyDraft, active };
  for (const operation of operations) apply(draft, operation);
  // An email address that was taken from the user name changes with the user name.
  const isTaken = user !== undefined && user.email === normalizeEmail(user.userName) && isAddress(draft.userName);
  if (isTaken && operations.every(({ attribute }) => attribute !== 'emails')) draft.email = null;
  return complete(draft);
}

function apply(draft: Draft, operation: PatchOperation): void {
  const { op, attribute, sub } = operation;
  const value = op === 'remove' ? null : operation.value;
  const text = texts[attribute];
  if (text) draft[text] = readTextValue(text, value);
  else if (attribute === 'active') draft.active = activeOf(op, value);
  else if (attribute === 'name') applyName(draft, sub, value);
  else if (attribute === 'emails') applyEmail(draft, operation, value);
  else refuseUnknown(operation);
}

function activeOf(op: PatchOperation['op'], value: unknown): boolean {
  if (op === 'remove') throw new ScimError(400, 'active: cannot be removed.', 'mutability');
  return readBooleanValue('active', value);
}

function applyName(draft: Draft, sub: string | undefined, value: unknown): void {
  const members: JsonObject = sub !== undefined ? { [sub]: value } : isObject(value) ? value : {};
  for (const [part, column] of Object.entries(nameParts)) {
    const isGiven = Object.keys(members).some((key) => key.toLowerCase() === part);
    if (isGiven || (sub === undefined && value === null))
      draft[column] = readTextValue(`name.${column}`, readMember(members, part));
  }
}

/** A directory keeps one email address of a user: the primary one, or else one of the type `work`, or else the first. */
function applyEmail(draft: Draft, { op, filter, sub }: PatchOperation, value: unknown): void {
  if (filter && draft.email !== null && !holds(filter, { value: draft.email, type: 'work', primary: true })) {
    if (op === 'add') return;
    throw new ScimError(400, 'path: matches no email address of the user.', 'noTarget');
  }
  if (sub !== undefined && sub !== 'value') return;
  const isAddition = op === 'add' && draft.email !== null && !filter && sub === undefined;
  const address =
    sub === 'value' || typeof value === 'string' ? readTextValue('emails.value', value) : chosen(value, isAddition);
  if (address !== undefined) draft.email = address;
}

/** Chooses one of several email addresses. An added address replaces the present one only when it is primary or of the type `work`. */
function chosen(value: unknown, isAddition: boolean): string | null | undefined {
  const listed = (Array.isArray(value) ? value : [value]).filter(isObject);
  const isPrimary = (one: JsonObject) => String(readMember(one, 'primary')).toLowerCase() === 'true';
  const isWork = (one: JsonObject) => readMember(one, 'type') === 'work';
  const one = listed.find(isPrimary) ?? listed.find(isWork) ?? (isAddition ? undefined : listed[0]);
  if (!one) return isAddition ? undefined : null;
  return readTextValue('emails.value', readMember(one, 'value'));
}

/** Whether an email address satisfies the filter in a path, for example in `emails[type eq "work"]`. */
function holds(filter: Filter, address: Readonly<Record<string, FilterValue>>): boolean {
  if (filter.kind === 'not') return !holds(filter.of, address);
  if (filter.kind === 'value') return false;
  if (filter.kind !== 'compare') {
    const parts = filter.of.map((part) => holds(part, address));
    return filter.kind === 'and' ? parts.every(Boolean) : parts.some(Boolean);
  }
  const present = address[filter.attribute];
  if (filter.comparator === 'pr') return present !== undefined;
  const isEqual = String(present).toLowerCase() === String(filter.value).toLowerCase();
  if (filter.comparator === 'eq') return isEqual;
  if (filter.comparator === 'ne') return !isEqual;
  throw new ScimError(400, `path: the comparison ${filter.comparator} is not supported.`, 'invalidFilter');
}

const name = nameText(directoryText.name).nullable();
const shape = z.object({
  userName: nameText(directoryText.userName),
  externalId: boundedText(directoryText.externalId).nullable(),
  emails: z.object({ value: emailAddress }),
  displayName: name,
  name: z.object({ formatted: name, givenName: name, familyName: name }),
});

const isAddress = (value: unknown): boolean => emailAddress.safeParse(value).success;

/** The user with all required values. @throws 400 naming each attribute that is missing or invalid */
function complete({ email, formattedName, givenName, familyName, active, ...draft }: Draft): UserInput {
  const parsed = shape.safeParse({
    ...draft,
    userName: draft.userName ?? undefined,
    emails: { value: email ?? (isAddress(draft.userName) ? draft.userName : undefined) },
    name: { formatted: formattedName, givenName, familyName },
  });
  if (!parsed.success) throw invalid.fields(fieldErrorsOf(parsed.error));
  const { emails, name, ...read } = parsed.data;
  return {
    ...read,
    email: normalizeEmail(emails.value),
    ...{ formattedName: name.formatted, givenName: name.givenName, familyName: name.familyName },
    active: active!,
  };
}

const present = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** The resource of a user with its groups. */
export function userResource(user: DirectoryUser, groups: readonly Related[]): JsonObject {
  const { id, externalId, userName, displayName, email, active } = user;
  const parts = { formatted: user.formattedName, givenName: user.givenName, familyName: user.familyName };
  return {
    schemas: [schemaIds.user],
    id,
    ...present({ externalId, userName, displayName }),
    ...(Object.values(parts).some((part) => part !== null) && { name: present(parts) }),
    emails: [{ value: email, type: 'work', primary: true }],
    active,
    ...(groups.length > 0 && {
      groups: groups.map((group) => ({ value: group.id, $ref: locationOf(`Groups/${group.id}`), display: group.name })),
    }),
    meta: metaOf('User', user),
  };
}
