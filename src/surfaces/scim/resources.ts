// The two kinds of resources, and the requests that are answered the same way for both.
import type { Caller } from '#access/principal.ts';
import { changeUser, createUser, deleteUser, findUser } from '#domain/lifecycle/provisioning/users.ts';
import { directoryPage } from '#domain/organization/directory/bounds.ts';
import { changeGroup, createGroup, deleteGroup, findDirectoryGroup } from '#domain/organization/directory/groups.ts';
import {
  groupsOfUsers,
  groupsThatFit,
  type Listed,
  type ListRequest,
  listGroups,
  listUsers,
  membersOfGroups,
  type Related,
  usersThatFit,
} from '#domain/organization/directory/lists.ts';
import type { DirectoryGroup, DirectoryUser } from '#domain/organization/directory/model.ts';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { Problem } from '#foundation/problem.ts';
import { answerScim } from './answer.ts';
import { schemaIds } from './documents.ts';
import { groupInput, groupResource } from './group.ts';
import { type JsonObject, operationsOfBody, operationsOfPatch } from './operations.ts';
import type { ListQuery } from './query.ts';
import { type AttributeChoice, chosenOf, entityTag, isChosen, isKnown, requireMatch } from './resource.ts';
import { userInput, userResource } from './user.ts';

type Act<Given extends unknown[]> = (exchange: Exchange, caller: Caller, ...given: Given) => Promise<void>;

export interface Resources {
  list(caller: Caller, request: ListRequest, choice: AttributeChoice): Promise<Listed<JsonObject>>;
  create: Act<[body: unknown, choice: AttributeChoice]>;
  show: Act<[id: string, choice: AttributeChoice]>;
  replace: Act<[id: string, body: unknown, choice: AttributeChoice]>;
  patch: Act<[id: string, body: unknown, choice: AttributeChoice]>;
  remove: Act<[id: string]>;
}

/** The related records by the id of the record to which they belong. */
function byOwner(related: readonly Related[]): ReadonlyMap<string, Related[]> {
  const found = new Map<string, Related[]>();
  for (const one of related) {
    const known = found.get(one.of);
    if (known) known.push(one);
    else found.set(one.of, [one]);
  }
  return found;
}

const withGroups = async (
  caller: Caller,
  found: readonly DirectoryUser[],
  choice: AttributeChoice,
): Promise<JsonObject[]> => {
  const hasGroups = isChosen('groups', choice);
  const rows = hasGroups ? await usersThatFit(caller, found) : found;
  const groups = byOwner(await groupsOfUsers(caller, hasGroups ? rows.map(({ id }) => id) : []));
  return rows.map((user) => chosenOf(userResource(user, groups.get(user.id) ?? []), choice));
};

const withMembers = async (
  caller: Caller,
  found: readonly DirectoryGroup[],
  choice: AttributeChoice,
): Promise<JsonObject[]> => {
  const hasMembers = isChosen('members', choice);
  const rows = hasMembers ? await groupsThatFit(caller, found) : found;
  const members = byOwner(await membersOfGroups(caller, hasMembers ? rows.map(({ id }) => id) : []));
  return rows.map((group) =>
    chosenOf(groupResource(group, hasMembers ? (members.get(group.id) ?? []) : undefined), choice),
  );
};

/** Sends a resource with its entity tag. */
function answerResource(exchange: Exchange, status: number, record: { version: number }, resource: JsonObject): void {
  const location = (resource.meta as { location: string } | undefined)?.location;
  answerScim(exchange, status, resource, { etag: entityTag(record), ...(location && { location }) });
}

const answerUser = async (
  exchange: Exchange,
  caller: Caller,
  status: number,
  user: DirectoryUser,
  choice: AttributeChoice,
) => {
  const [resource] = await withGroups(caller, [user], choice);
  answerResource(exchange, status, user, resource!);
};
const answerGroup = async (
  exchange: Exchange,
  caller: Caller,
  status: number,
  group: DirectoryGroup,
  choice: AttributeChoice,
) => {
  const [resource] = await withMembers(caller, [group], choice);
  answerResource(exchange, status, group, resource!);
};

export const userResources: Resources = {
  async list(caller, request, choice) {
    const { total, rows } = await listUsers(caller, request);
    return { total, rows: await withGroups(caller, rows, choice) };
  },
  async create(exchange, caller, body, choice) {
    const user = await createUser(caller, userInput(operationsOfBody(body)));
    await answerUser(exchange, caller, 201, user, choice);
  },
  async show(exchange, caller, id, choice) {
    const user = await findUser(caller, id);
    if (isKnown(exchange, user)) return answer(exchange, 304, undefined, { etag: entityTag(user) });
    await answerUser(exchange, caller, 200, user, choice);
  },
  async replace(exchange, caller, id, body, choice) {
    const operations = operationsOfBody(body);
    const user = await changeUser(caller, id, (present) => {
      requireMatch(exchange, present);
      // A body without `active` does not activate anybody.
      return userInput(operations, undefined, present.active);
    });
    await answerUser(exchange, caller, 200, user, choice);
  },
  async patch(exchange, caller, id, body, choice) {
    const operations = operationsOfPatch(body);
    const user = await changeUser(caller, id, (present) => {
      requireMatch(exchange, present);
      const { userName, externalId, email, displayName, formattedName, givenName, familyName, active } = present;
      const input = { userName, externalId, email, displayName, formattedName, givenName, familyName, active };
      return userInput(operations, input);
    });
    await answerUser(exchange, caller, 200, user, choice);
  },
  async remove(exchange, caller, id) {
    await deleteUser(caller, id, (user) => requireMatch(exchange, user));
    answer(exchange, 204);
  },
};

export const groupResources: Resources = {
  async list(caller, request, choice) {
    // A group may have every user as a member, so a page of groups with their members has fewer groups.
    const limit = isChosen('members', choice)
      ? Math.min(request.limit, directoryPage.groupsWithMembers)
      : request.limit;
    const { total, rows } = await listGroups(caller, { ...request, limit });
    return { total, rows: await withMembers(caller, rows, choice) };
  },
  async create(exchange, caller, body, choice) {
    const { input, members } = groupInput(operationsOfBody(body));
    const group = await createGroup(caller, input, members);
    await answerGroup(exchange, caller, 201, group, choice);
  },
  async show(exchange, caller, id, choice) {
    const group = await findDirectoryGroup(caller, id);
    if (isKnown(exchange, group)) return answer(exchange, 304, undefined, { etag: entityTag(group) });
    await answerGroup(exchange, caller, 200, group, choice);
  },
  async replace(exchange, caller, id, body, choice) {
    const { input, members } = groupInput(operationsOfBody(body));
    const replaced = members.length > 0 ? members : [{ kind: 'set' as const, ids: [] }];
    const group = await changeGroup(caller, id, (present) => {
      requireMatch(exchange, present);
      return { input, members: replaced };
    });
    await answerGroup(exchange, caller, 200, group, choice);
  },
  async patch(exchange, caller, id, body, choice) {
    const operations = operationsOfPatch(body);
    const group = await changeGroup(caller, id, (present) => {
      requireMatch(exchange, present);
      return groupInput(operations, { displayName: present.displayName, externalId: present.externalId });
    });
    // By default the response is empty: otherwise it would contain all members of the group, even after a change of one member (RFC 7644,
    // section 3.5.2).
    if (!choice.attributes?.length) return answer(exchange, 204, undefined, { etag: entityTag(group) });
    await answerGroup(exchange, caller, 200, group, choice);
  },
  async remove(exchange, caller, id) {
    await deleteGroup(caller, id, (group) => requireMatch(exchange, group));
    answer(exchange, 204);
  },
};

const listOf = ({ offset }: ListRequest, { total, rows }: Listed<JsonObject>) => ({
  schemas: [schemaIds.list],
  totalResults: total,
  startIndex: offset + 1,
  itemsPerPage: rows.length,
  Resources: rows,
});

export async function answerList(
  exchange: Exchange,
  caller: Caller,
  resources: Resources,
  { request, ...choice }: ListQuery,
): Promise<void> {
  answerScim(exchange, 200, listOf(request, await resources.list(caller, request, choice)));
}

/** Searches users, then groups. A filter that one kind does not support matches no resource of that kind (RFC 7644, section 3.4.2.1). */
export async function answerSearchOfAll(exchange: Exchange, caller: Caller, query: ListQuery): Promise<void> {
  const { request, ...choice } = query;
  const ofUsers = await orNone(userResources.list(caller, request, choice));
  const isLast = request.offset + ofUsers.rows.length >= ofUsers.total;
  const rest = {
    ...request,
    offset: Math.max(0, request.offset - ofUsers.total),
    limit: isLast ? request.limit - ofUsers.rows.length : 0,
  };
  const ofGroups = await orNone(groupResources.list(caller, rest, choice));
  if (ofUsers.problem && ofGroups.problem) throw ofUsers.problem;
  const rows = [...ofUsers.rows, ...ofGroups.rows];
  answerScim(exchange, 200, listOf(request, { total: ofUsers.total + ofGroups.total, rows }));
}

/** If the kind of resource does not support the filter, returns the problem and no records. */
async function orNone(listed: Promise<Listed<JsonObject>>): Promise<Listed<JsonObject> & { problem?: Problem }> {
  try {
    return await listed;
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 400) return { total: 0, rows: [], problem };
    throw problem;
  }
}
