// The form for a personal access token. Its secret is shown only on the page that created it, until the person leaves that page.

import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import {
  type CreateTokenMutation,
  createToken,
  projects,
  type ScopePreset,
  type ScopesQuery,
  scopes as scopeCatalog,
} from '../generated/documents.ts';
import { Failure, mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { FieldError } from '../kit/field-error.tsx';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { api } from '../kit/page.ts';
import { Card, Commands, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { Time } from '../kit/words.tsx';

type Group = ScopesQuery['scopes']['groups'][number];
type Created = CreateTokenMutation['createToken'];

/** Maximum number of scopes per token, as in the API. */
const maxScopes = 25;

const presetNames = {
  read: 'Read only',
  missions: 'Run missions',
  all: 'Everything',
  docs: 'Commands in the docs',
} satisfies Record<ScopePreset, string>;
const presets = Object.entries(presetNames);

const lifetimes = [
  ...['7', '30', '90', '365'].map((days) => [days, `${days} days`] as const),
  ['other', 'Another number of days'] as const,
];

export function NewToken({ read }: { read(): void }) {
  const { data, problem, read: retry } = useReading(scopeCatalog, {});
  const [created, setCreated] = useShownOnce<Created>();
  const groups = data?.scopes.groups
    .map((group) => ({ ...group, scopes: group.scopes.filter(({ grantable }) => grantable) }))
    .filter(({ scopes }) => scopes.length > 0);
  return (
    <Card title={created ? 'Your new token' : 'New token'}>
      {problem && <ErrorNote problem={problem} retry={retry} />}
      {!groups && !problem && <Skeleton rows={6} height={64} />}
      {created && <Secret token={created} close={() => setCreated(null)} />}
      {groups && !created && (
        <TokenForm
          groups={groups}
          take={(token) => {
            setCreated(token);
            read();
          }}
        />
      )}
    </Card>
  );
}

interface Values {
  name: string;
  lifetime: string;
  /** Days, if the lifetime is `other`. */
  expiresInDays: string;
  projectId: string;
  scopes: string[];
}

const scopesOf = (groups: readonly Group[], preset: string | undefined): string[] =>
  groups.flatMap(({ scopes }) =>
    scopes.filter(({ presets }) => presets.some((one) => one === preset)).map(({ scope }) => scope),
  );

function TokenForm({ groups, take }: { groups: readonly Group[]; take(token: Created): void }) {
  const { query } = useLocation();
  const { data } = useReading(projects, { limit: 100 });
  const form = useForm<Values>({
    name: 'token',
    initial: { name: '', lifetime: '90', expiresInDays: '', projectId: '', scopes: scopesOf(groups, query.preset) },
    async send({ name, lifetime, expiresInDays, projectId, scopes }, key) {
      // The API allows a token without scopes; a person who selected none most likely forgot to.
      if (scopes.length === 0) throw noScopes;
      const days = Number(lifetime === 'other' ? expiresInDays : lifetime);
      const input = { name, expiresInDays: days, scopes, ...(projectId && { projectId }) };
      take((await mutate(createToken, { input }, key)).createToken);
    },
  });
  const found = data?.projects;
  return (
    <FormFrame form={form} action="Create token">
      <Text form={form} name="name" label="Name" maxLength={100} required>
        For example, where you use the token.
      </Text>
      <Choice form={form} name="lifetime" label="Expires in" options={lifetimes} />
      {form.values.lifetime === 'other' && (
        <Text form={form} name="expiresInDays" label="Number of days" type="number" min={1} max={365} required>
          1 to 365.
        </Text>
      )}
      {found && found.data.length > 0 && (
        <Choice
          form={form}
          name="projectId"
          label="Project"
          options={[['', 'The whole organization'], ...found.data.map(({ id, name }) => [id, `Only ${name}`] as const)]}
        >
          {found.nextCursor && `The newest ${found.data.length} projects are listed.`}
        </Choice>
      )}
      <Scopes form={form} groups={groups} />
    </FormFrame>
  );
}

const noScopes = new Failure({
  title: 'Invalid request',
  description: 'scopes: select at least one.',
  retryable: false,
  fields: [{ path: 'scopes', message: 'select at least one' }],
});

function Scopes({ form, groups }: { form: Form<Values>; groups: readonly Group[] }) {
  const selected = new Set(form.values.scopes);
  const error = form.errorOf('scopes');
  const toggle = (scope: string, isSelected: boolean) => {
    if (isSelected) selected.add(scope);
    else selected.delete(scope);
    form.set({ scopes: [...selected] });
  };
  return (
    <fieldset>
      <legend>Scopes</legend>
      <p class="hint">At most {maxScopes}. A scope has an effect only while your role includes it.</p>
      <div class="actions">
        {presets.map(([preset, label]) => (
          <button
            key={preset}
            type="button"
            class="quiet slim"
            onClick={() => form.set({ scopes: scopesOf(groups, preset) })}
          >
            {label}
          </button>
        ))}
        <span class="muted small" role="status">
          {selected.size} of at most {maxScopes} scopes selected.
        </span>
      </div>
      <FieldError id="error-scopes" text={error} />
      <div class="groups">
        {groups.map((group, at) => (
          <fieldset key={group.key} class="group">
            <legend>{group.name}</legend>
            {group.scopes.map(({ scope, description }, i) => (
              <label key={scope} class="check">
                <input
                  type="checkbox"
                  checked={selected.has(scope)}
                  {...(error && at + i === 0 && { 'aria-invalid': 'true', 'aria-describedby': 'error-scopes' })}
                  onChange={({ currentTarget }) => toggle(scope, currentTarget.checked)}
                />
                <span>
                  {description} <code class="muted small">{scope}</code>
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
    </fieldset>
  );
}

function Secret({ token: { name, token, expiresAt }, close }: { token: Created; close(): void }) {
  const note = useRef<HTMLDivElement>(null);
  // Moves the focus to the secret, because the form that had the focus is no longer on the page.
  useEffect(() => note.current?.focus(), []);
  return (
    <>
      <div class="note good" role="status" ref={note} tabIndex={-1}>
        <strong>
          Created <bdi>{name}</bdi>. It expires <Time at={expiresAt} />.
        </strong>
        <div>Copy this token now. You won’t see it again.</div>
      </div>
      <div class="secret">
        <code>{token}</code>
        <Copy text={token} label="Copy" describes="Copy token" />
      </div>
      <h3>Try it</h3>
      <Commands>{`curl -H "Authorization: Bearer $TOKEN" ${api}/me`}</Commands>
      <div class="actions">
        <button type="button" class="quiet slim" onClick={close}>
          Done
        </button>
      </div>
    </>
  );
}
