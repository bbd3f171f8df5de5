// Secrets and variables of agents: the page of the organization, and the card of a project or sandbox template.
import { deleteSecret, secrets } from '../generated/documents.ts';
import { LastUsed } from '../integrations/credentials.tsx';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { EditableList, EditableRow } from '../kit/editable-list.tsx';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { useList } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { ChangeSecret, NewSecret, type Place, type Secret } from './secret-forms.tsx';

export const Secrets = () => (
  <>
    <Heading title="Secrets and variables">
      {may('secrets:read') && (
        <CopyAs
          path="/secrets"
          graphql="{ secrets { data { id name kind hosts setupOnly lastUsedAt } nextCursor } }"
          client="client.secrets()"
          cli="aep secrets list"
        />
      )}
    </Heading>
    <p class="muted about">
      A change to a secret or variable takes effect at the next step of each mission. If several secrets have the same
      name, the secret of the sandbox template overrides the secret of the project, which overrides the secret of the
      organization. Pages of projects and templates list their own secrets and variables.
    </p>
    {may('secrets:read') ? (
      <SecretsCard place={{ scope: 'organization' }} title="Organization" />
    ) : (
      <Card title="For admins">
        <p>
          Admins set secrets and variables; nobody can read a value again. Ask one of the{' '}
          <a href={pageAt('/members')}>admins</a> to set what your agents need.
        </p>
      </Card>
    )}
  </>
);

export function SecretsCard({ place, title = 'Secrets and variables' }: { place: Place; title?: string }) {
  const list = useList(secrets, { ...place, limit: 50 }, (data) => data.secrets);
  const mayWrite = may('secrets:write');
  return (
    <EditableList
      title={title}
      list={list}
      mayWrite={mayWrite}
      add={{ label: 'Add', class: place.scope === 'organization' ? 'slim' : 'quiet slim' }}
      empty="No secrets or variables yet. Store a package registry token as a secret for the setup, and an API token as a secret for the hosts of that API."
      addForm={(form) => <NewSecret place={place} {...form} />}
    >
      {(secret, done) => <SecretRow key={secret.id} secret={secret} mayWrite={mayWrite} done={done} />}
    </EditableList>
  );
}

const wordsOf = ({ kind, setupOnly, hosts }: Secret): string => {
  if (kind === 'variable') return 'Variable for setup and agents';
  return setupOnly ? 'Secret for the setup' : `Secret for ${hosts.join(', ')}`;
};

interface RowProperties {
  secret: Secret;
  mayWrite: boolean;
  done(words: string): void;
}

function SecretRow({ secret, mayWrite, done }: RowProperties) {
  const { id: secretId, name, lastUsedAt, setBy, updatedAt } = secret;
  return (
    <EditableRow
      name={name}
      mayWrite={mayWrite}
      question={`At their next step, missions no longer get ${name}. This cannot be undone.`}
      remove={async (key) => {
        await mutate(deleteSecret, { secretId }, key);
        done(`Deleted ${name}.`);
      }}
      done={done}
      changeForm={(form) => <ChangeSecret secret={secret} {...form} />}
    >
      <div class="grow break">
        <code>
          <strong>{name}</strong>
        </code>
        <div class="small">{wordsOf(secret)}</div>
        <div class="muted small">
          <LastUsed at={lastUsedAt} /> · {setBy ? `Set by ${setBy}` : 'Set'} <Time at={updatedAt} />
        </div>
      </div>
    </EditableRow>
  );
}
