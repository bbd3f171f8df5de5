// Reads the changes of a group from the operations of a SCIM request, and creates the SCIM resource of a group for a response (RFC 7643,
// section 4.2).
import { z } from 'zod';
import { directoryText } from '#domain/organization/directory/bounds.ts';
import type { Filter } from '#domain/organization/directory/filter.ts';
import type { GroupInput, MemberChange } from '#domain/organization/directory/groups.ts';
import type { Related } from '#domain/organization/directory/lists.ts';
import type { DirectoryGroup } from '#domain/organization/directory/model.ts';
import { invalid } from '#foundation/problem.ts';
import { boundedText, fieldErrorsOf, nameText } from '#graph/validation.ts';
import { locationOf, schemaIds } from './documents.ts';
import { ScimError } from './errors.ts';
import {
  isObject,
  type JsonObject,
  type PatchOperation,
  readMember,
  readTextValue,
  refuseUnknown,
} from './operations.ts';
import { metaOf } from './resource.ts';

const shape = z.object({
  displayName: nameText(directoryText.name),
  externalId: boundedText(directoryText.externalId).nullable(),
});

export interface GroupChange {
  input: GroupInput;
  members: MemberChange[];
}

/** The values of a group after the operations. @param group The present group; absent for a new group, and for a group that is replaced */
export function groupInput(operations: readonly PatchOperation[], group?: GroupInput): GroupChange {
  const draft = { displayName: group?.displayName ?? null, externalId: group?.externalId ?? null };
  const members: MemberChange[] = [];
  for (const operation of operations) {
    const { op, attribute } = operation;
    const value = op === 'remove' ? null : operation.value;
    if (attribute === 'displayname') draft.displayName = readTextValue('displayName', value);
    else if (attribute === 'externalid') draft.externalId = readTextValue('externalId', value);
    else if (attribute === 'members') members.push(memberChange(operation));
    else refuseUnknown(operation);
  }
  const parsed = shape.safeParse({ ...draft, displayName: draft.displayName ?? undefined });
  if (!parsed.success) throw invalid.fields(fieldErrorsOf(parsed.error));
  return { input: parsed.data, members };
}

function memberChange({ op, filter, value }: PatchOperation): MemberChange {
  if (filter) {
    if (op === 'remove') return { kind: 'remove', ids: idsOfFilter(filter) };
    throw new ScimError(400, 'path: a filter on members can only be used to remove members.', 'invalidPath');
  }
  const ids = idsOf(value);
  if (op === 'remove') return value == null ? { kind: 'set', ids: [] } : { kind: 'remove', ids };
  return { kind: op === 'add' ? 'add' : 'set', ids };
}

/** The ids in a filter such as `value eq "id"`, or in several such comparisons joined by `or`. @throws ScimError for any other filter */
function idsOfFilter(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.of.flatMap(idsOfFilter);
  const isId = filter.kind === 'compare' && filter.attribute === 'value' && filter.comparator === 'eq';
  if (isId && typeof filter.value === 'string') return [filter.value];
  throw new ScimError(400, 'path: select members with members[value eq "<id>"].', 'invalidFilter');
}

function idsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : value == null ? [] : [value]).map((one, index) => {
    const id = isObject(one) ? readMember(one, 'value') : one;
    if (typeof id === 'string' && /^[^\0]+$/.test(id) && id.length <= directoryText.externalId.max) return id;
    throw invalid.field(`members.${index}.value`, 'must be the id of a user');
  });
}

/** The resource of a group. Without the argument `members`, the resource has no members. */
export const groupResource = (group: DirectoryGroup, members?: readonly Related[]): JsonObject => ({
  schemas: [schemaIds.group],
  id: group.id,
  ...(group.externalId !== null && { externalId: group.externalId }),
  displayName: group.displayName,
  ...(members && {
    members: members.map(({ id, name }) => ({ value: id, $ref: locationOf(`Users/${id}`), display: name })),
  }),
  meta: metaOf('Group', group),
});
