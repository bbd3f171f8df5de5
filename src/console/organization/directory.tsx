// The directory: users and groups that an identity provider maintains, the roles of groups, and the tokens of the provider.
import {
  type DirectoryGroupRole,
  type DirectoryGroupsQuery,
  type DirectoryUsersQuery,
  directoryGroups,
  directoryUsers,
  setDirectoryGroupRole,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { listFrom, useFilter, useList, useReading } from '../kit/reading.ts';
import { plural, Time } from '../kit/words.tsx';
import { DirectoryTokens } from './directory-tokens.tsx';
import { RoleSelect } from './role-select.tsx';

export function Directory() {
  const groups = useReading(directoryGroups, {});
  const isOwner = groups.data?.me.role === 'owner';
  return (
    <>
      <Heading title="Directory" />
      <p class="muted">
        Your identity provider, such as Entra ID or Okta, adds and removes members through SCIM 2.0. A removed person
        loses access at the next request.
      </p>
      <div class="columns">
        <div class="column">
          <Groups reading={groups} isOwner={isOwner} />
          <Users />
        </div>
        <div class="column">
          {groups.data &&
            (isOwner ? (
              <DirectoryTokens />
            ) : (
              <Card title="Connect an identity provider">
                <p>Owners can create the token that an identity provider needs.</p>
              </Card>
            ))}
        </div>
      </div>
    </>
  );
}

type GroupRow = DirectoryGroupsQuery['directoryGroups']['data'][number];

interface GroupsProperties {
  reading: Parameters<typeof listFrom<DirectoryGroupsQuery, GroupRow>>[0] & { read(): void };
  isOwner: boolean;
}

const Groups = ({ reading, isOwner }: GroupsProperties) => (
  <Card title="Groups">
    <p class="muted">
      A person gets the highest role of their groups, or the member role if no group gives one. Owners keep their role.
    </p>
    <RowList
      list={listFrom(reading, (data) => data.directoryGroups.data)}
      skeleton={<Skeleton rows={2} height={54} />}
      empty={<p>The identity provider has not sent any groups yet.</p>}
    >
      {(group) => <Group key={group.id} group={group} isOwner={isOwner} read={reading.read} />}
    </RowList>
  </Card>
);

const roles: readonly (DirectoryGroupRole | '')[] = ['', 'viewer', 'member', 'admin'];

function Group({ group, isOwner, read }: { group: GroupRow; isOwner: boolean; read(): void }) {
  const { id, displayName, role, memberCount } = group;
  return (
    <li class="next-row wrap">
      <div class="grow">
        <strong class="break">
          <bdi>{displayName}</bdi>
        </strong>
        <div class="muted small">{plural(memberCount, 'user')}</div>
      </div>
      {isOwner ? (
        <RoleSelect
          role={role ?? ''}
          roles={roles}
          label={`Role of the members of ${displayName}`}
          name={displayName}
          save={(wanted, key) =>
            mutate(setDirectoryGroupRole, { directoryGroupId: id, role: wanted || null }, key).then(read)
          }
        />
      ) : (
        <span class="tag">{role ?? 'no role'}</span>
      )}
    </li>
  );
}

type UserRow = DirectoryUsersQuery['directoryUsers']['data'][number];

const stateWords: Record<UserRow['state'], string> = {
  member: 'member',
  waiting: 'waiting to join',
  removed: 'removed here',
  inactive: 'inactive',
};

function Users() {
  const [find, setFind] = useFilter('find');
  const list = useList(directoryUsers, { query: find, limit: 50 }, (data) => data.directoryUsers);
  return (
    <Card title="Users">
      <div class="filters">
        <label>
          Find a user
          <input type="search" value={find ?? ''} onInput={({ currentTarget }) => setFind(currentTarget.value)} />
        </label>
      </div>
      <RowList
        list={list}
        skeleton={<Skeleton rows={4} height={54} />}
        empty={<p>{find ? 'No matching users.' : 'The identity provider has not sent any users yet.'}</p>}
      >
        {({ id, userName, email, displayName, state, updatedAt }) => (
          <li class="next-row wrap" key={id}>
            <div class="grow">
              <strong class="break">
                <bdi>{displayName ?? userName}</bdi>
              </strong>
              <div class="muted small break">
                {email} · changed <Time at={updatedAt} />
              </div>
            </div>
            <span class={state === 'member' ? 'tag good' : 'tag'}>{stateWords[state]}</span>
          </li>
        )}
      </RowList>
    </Card>
  );
}
