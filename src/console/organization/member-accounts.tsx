// The accounts of a member at source hosts. Events of these accounts start missions for the member.
import { useState } from 'preact/hooks';
import { integrations, linkAccount, type MembersQuery, unlinkAccount } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may, org as orgId } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

type Member = MembersQuery['memberships']['memberships'][number];

interface Properties {
  member: Pick<Member, 'userId' | 'accounts'>;
  name: string;
  read(): void;
}

export function Accounts({ member: { userId, accounts }, name, read }: Properties) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="small break">
      {accounts.map(({ vendor, host, login }) => (
        <div key={`${vendor} ${host}`} class="next-row">
          <span class="grow muted">
            {login} at {host}
          </span>
          {may('members:write') && (
            <Action
              label="Unlink"
              describes={`Unlink ${login} from ${name}`}
              act={(key) => mutate(unlinkAccount, { orgId, userId, vendor, host }, key).then(read)}
            />
          )}
        </div>
      ))}
      {may('members:write') && may('integrations:read') && !isOpen && (
        <button type="button" class="quiet slim" aria-label={`Link account of ${name}`} onClick={() => setOpen(true)}>
          Link account
        </button>
      )}
      {isOpen && (
        <LinkForm
          name={name}
          userId={userId}
          done={() => {
            setOpen(false);
            read();
          }}
        />
      )}
    </div>
  );
}

function LinkForm({ userId, name, done }: { userId: string; name: string; done(): void }) {
  const { data } = useReading(integrations, {});
  const [chosen, choose] = useState('');
  const [login, setLogin] = useState('');
  const hosts = (data?.integrations.integrations ?? []).filter(
    ({ vendor, vendorKind }) => vendorKind === 'scm' && vendor !== 'builtin',
  );
  const integrationId = chosen || (hosts[0]?.id ?? '');
  if (data && hosts.length === 0) return <p class="hint">Connect a source host first.</p>;
  return (
    <div class="schedule">
      <label>
        Source host
        <select value={integrationId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {hosts.map(({ id, displayName }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
        </select>
      </label>
      <label>
        Login
        <input
          value={login}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setLogin(currentTarget.value)}
        />
      </label>
      <Action
        label="Link"
        describes={`Link the account of ${name}`}
        class="slim"
        act={(key) => mutate(linkAccount, { orgId, userId, integrationId, login: login.trim() }, key).then(done)}
      />
    </div>
  );
}
