// Secrets and variables of agents: the page of the organization, and the card of a project or sandbox template.
import { useState } from 'preact/hooks';
import { deleteSecret, secrets } from '../generated/documents.ts';
import { LastUsed } from '../integrations/credentials.tsx';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, ListView, Said, Skeleton } from '../kit/pieces.tsx';
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
      Missions get secrets and variables from their next step. For equal names, a sandbox template overrides the
      project, and the project overrides the organization. Projects and templates list their own on their pages.
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
  const list = useList(
    secrets,
    { ...place, limit: 50 },
    (data) => data.secrets,
    ({ id }) => id,
  );
  const [said, say] = useState('');
  const [isAdding, setAdding] = useState(false);
  const mayWrite = may('secrets:write');
  const done = (words: string) => {
    say(words);
    setAdding(false);
    list.read();
  };
  return (
    <Card
      title={title}
      aside={
        mayWrite &&
        !isAdding && (
          <button
            type="button"
            class={place.scope === 'organization' ? 'slim' : 'quiet slim'}
            onClick={() => setAdding(true)}
          >
            Add
          </button>
        )
      }
    >
      <Said words={said} />
      {isAdding && <NewSecret place={place} done={done} cancel={() => setAdding(false)} />}
      <ListView
        list={list}
        skeleton={<Skeleton rows={2} height={54} />}
        empty={
          !isAdding && (
            <p>
              No secrets or variables yet. Store a token of a package registry as a secret for the setup, and an API
              token as a secret for its hosts.
            </p>
          )
        }
      >
        {(rows) => (
          <ul class="rows">
            {rows.map((secret) => (
              <SecretRow key={secret.id} secret={secret} mayWrite={mayWrite} done={done} />
            ))}
          </ul>
        )}
      </ListView>
    </Card>
  );
}

const wordsOf = ({ kind, setupOnly, hosts }: Secret): string => {
  if (kind === 'variable') return 'Variable of setup and agents';
  return setupOnly ? 'Secret for the setup' : `Secret for ${hosts.join(', ')}`;
};

interface RowProperties {
  secret: Secret;
  mayWrite: boolean;
  done(words: string): void;
}

function SecretRow({ secret, mayWrite, done }: RowProperties) {
  const { id: secretId, name, lastUsedAt, setBy, updatedAt } = secret;
  const [isChanging, setChanging] = useState(false);
  return (
    <li>
      <div class="next-row wrap">
        <div class="grow break">
          <code>
            <strong>{name}</strong>
          </code>
          <div class="small">{wordsOf(secret)}</div>
          <div class="muted small">
            <LastUsed at={lastUsedAt} /> · {setBy ? `Set by ${setBy}` : 'Set'} <Time at={updatedAt} />
          </div>
        </div>
        {mayWrite && !isChanging && (
          <div class="actions">
            <button type="button" class="quiet slim" aria-label={`Change ${name}`} onClick={() => setChanging(true)}>
              Change
            </button>
            <Action
              label="Delete"
              describes={`Delete ${name}`}
              class="danger slim"
              question={`Missions no longer get ${name} from their next step on. This cannot be undone.`}
              act={async (key) => {
                await mutate(deleteSecret, { secretId }, key);
                done(`Deleted ${name}.`);
              }}
            />
          </div>
        )}
      </div>
      {isChanging && (
        <ChangeSecret
          secret={secret}
          done={(words) => {
            setChanging(false);
            done(words);
          }}
          cancel={() => setChanging(false)}
        />
      )}
    </li>
  );
}
