// The members of the organization with their roles, and its invites.
import { useState } from 'preact/hooks';
import {
  createInvite,
  deleteMembership,
  type MembersQuery,
  members,
  type OrgRole,
  revokeInvite,
  updateMembership,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, org as orgId } from '../kit/page.ts';
import { Action, Card, Empty, Loaded, Pill } from '../kit/pieces.tsx';
import { useFilter, useReading } from '../kit/reading.ts';
import { plural, Time } from '../kit/words.tsx';
import { Erase, FormerMembers } from './former-members.tsx';
import { Accounts } from './member-accounts.tsx';
import { RoleSelect } from './role-select.tsx';

type Member = MembersQuery['memberships']['memberships'][number];

const roles: readonly (readonly [OrgRole, string])[] = [
  ['viewer', 'Viewer: sees everything'],
  ['member', 'Member: runs missions'],
  ['admin', 'Admin: changes projects, agents and members'],
  ['owner', 'Owner: everything, including billing and closing the organization'],
];

export function Members() {
  const { data, problem, read } = useReading(members, { orgId });
  const mayErase = data?.me.role === 'owner' && may('members:write');
  return (
    <>
      <Heading title="Members" />
      <Loaded value={data} problem={problem} retry={read} rows={5} height={54}>
        {(data) => (
          <div class="columns">
            <People members={data.memberships.memberships} me={data.me} read={read} />
            <div class="column">
              {may('members:write') && <Invitation read={read} />}
              <Invites invites={data.invites.invites} mayErase={mayErase} read={read} />
              {may('audit:read') && (
                // Reads the list again after a member was removed.
                <FormerMembers
                  key={data.memberships.memberships.map(({ userId }) => userId).join()}
                  mayErase={mayErase}
                  read={read}
                />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

/** Number of rows shown at first, and added with each click on the button. */
const atFirst = 100;

function People({ members: all, me, read }: { members: Member[]; me: MembersQuery['me']; read(): void }) {
  const [find, setWanted] = useFilter('find');
  const wanted = find ?? '';
  const [most, setMost] = useState(atFirst);
  const found = all.filter(({ person, userId }) =>
    `${person?.name} ${person?.email} ${userId}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <Card title="Members" aside={plural(all.length, 'member')}>
      {all.length > 10 && (
        <div class="filters">
          <label>
            Find a member
            <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
          </label>
        </div>
      )}
      {found.length === 0 && <Empty>No matching members.</Empty>}
      <ul class="rows">
        {found.slice(0, most).map((member) => (
          <MemberRow key={member.userId} member={member} isMe={member.userId === me.userId} read={read} />
        ))}
      </ul>
      {found.length > most && (
        <div class="more-row">
          <button type="button" class="quiet slim" onClick={() => setMost(most + atFirst)}>
            Show more
          </button>
        </div>
      )}
    </Card>
  );
}

function MemberRow({ member, isMe, read }: { member: Member; isMe: boolean; read(): void }) {
  const { userId, role, person, createdAt } = member;
  const name = person?.name ?? userId;
  return (
    <li class="next-row wrap">
      <div class="grow">
        <strong class="break">
          <bdi>{name}</bdi>
        </strong>{' '}
        {isMe && <span class="tag good">You</span>}
        <div class="muted small break">
          {person?.email} · joined <Time at={createdAt} />
        </div>
        <Accounts member={member} name={name} read={read} />
      </div>
      {may('members:write') ? (
        <div class="actions">
          <RoleSelect
            role={role}
            roles={roles.map(([one]) => one)}
            label={`Role of ${name}`}
            name={name}
            save={(wanted, key) => mutate(updateMembership, { orgId, userId, role: wanted }, key).then(read)}
          />
          <Action
            label={isMe ? 'Leave' : 'Remove'}
            describes={isMe ? 'Leave the organization' : `Remove ${name}`}
            class="danger slim"
            question={`The tokens, sign-ins and claimed agents of ${name} in this organization end, and recurring missions that they set up are disabled.`}
            act={(key) => mutate(deleteMembership, { orgId, userId }, key).then(read)}
          />
        </div>
      ) : (
        <span class="tag">{role}</span>
      )}
    </li>
  );
}

function Invitation({ read }: { read(): void }) {
  const form = useForm({
    name: 'invite',
    initial: { email: '', role: 'member' },
    async send({ email, role }, key) {
      await mutate(createInvite, { email, role: role as OrgRole }, key);
      read();
    },
  });
  return (
    <Card title="Invite somebody">
      <FormFrame form={form} action="Send invite">
        <Text form={form} name="email" label="Email" type="email" required />
        <Choice form={form} name="role" label="Role" options={roles} />
      </FormFrame>
    </Card>
  );
}

interface InvitesProperties {
  invites: MembersQuery['invites']['invites'];
  mayErase: boolean;
  read(): void;
}

function Invites({ invites, mayErase, read }: InvitesProperties) {
  return (
    <Card title="Invites">
      {invites.length === 0 && <Empty>No invites.</Empty>}
      <ul class="rows">
        {invites.map(({ id, email, role, status, expiresAtSec }) => (
          <li key={id} class="next-row wrap">
            <div class="grow">
              <div class="break">{email}</div>
              <div class="muted small">
                {role}
                {status === 'pending' && (
                  <>
                    {' '}
                    · expires <Time at={expiresAtSec * 1_000} />
                  </>
                )}
              </div>
            </div>
            <Pill status={status} />
            <div class="actions">
              {may('members:write') && (status === 'pending' || status === 'expired') && (
                <Action
                  label="Resend"
                  describes={`Resend the invite of ${email}`}
                  act={async (key) => {
                    if (status === 'pending') await mutate(revokeInvite, { inviteId: id }, `${key}-1`);
                    await mutate(createInvite, { email, role }, key);
                    read();
                  }}
                />
              )}
              {may('members:write') && status === 'pending' && (
                <Action
                  label="Revoke"
                  describes={`Revoke the invite of ${email}`}
                  class="danger slim"
                  act={(key) => mutate(revokeInvite, { inviteId: id }, key).then(read)}
                />
              )}
              {mayErase && (status === 'revoked' || status === 'expired') && (
                <Erase person={email} name={email} read={read} />
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
