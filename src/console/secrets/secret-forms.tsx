// Forms that create a secret or variable and that replace its value. The console never loads, stores or shows the existing value.
import { createSecret, type SecretScope, type SecretsQuery, updateSecret } from '../generated/documents.ts';
import { OneOf } from '../kit/choices.tsx';
import { mutate } from '../kit/client.ts';
import type { EntryFormProperties } from '../kit/editable-list.tsx';
import { cleanHosts, Hosts } from '../kit/entries.tsx';
import { Check, FormFrame, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';

export type Secret = SecretsQuery['secrets']['data'][number];

/** The scope with the id of its project or template. */
export interface Place {
  scope: SecretScope;
  projectId?: string;
  templateId?: string;
}

interface Values {
  value: string;
  hasLines: boolean;
  hosts: string[];
}

const uses = [
  ['setup', 'A secret for the setup'],
  ['hosts', 'A secret for requests to hosts'],
  ['variable', 'A variable'],
] as const;
const useHints: Record<string, string> = {
  setup: 'Only the setup script gets the secret, such as a token of a package registry. It is masked in all output.',
  hosts: 'Agents see a placeholder; requests to these hosts get the value. The network policy must allow them too.',
  variable: 'Setup and agents can read it: do not store a password in it.',
};

export function NewSecret({ place, done, cancel }: EntryFormProperties & { place: Place }) {
  const form = useForm({
    name: `secret of ${place.projectId ?? place.templateId ?? 'organization'}`,
    prefix: 'new-secret-',
    secrets: ['value'],
    initial: { name: '', use: 'setup', ...empty },
    async send({ name, use, value, hosts }, key) {
      const kind = use === 'variable' ? ('variable' as const) : ('secret' as const);
      const target = { hosts: use === 'hosts' ? cleanHosts(hosts) : [], setupOnly: use === 'setup' };
      await mutate(createSecret, { input: { ...place, kind, name: name.trim(), value, ...target } }, key);
      done(`Added ${name.trim()}.`);
    },
  });
  const { use } = form.values;
  return (
    <FormFrame form={form} action="Add" close={cancel}>
      <OneOf form={form} name="use" label="Kind" options={uses}>
        {useHints[use] ?? ''}
      </OneOf>
      <Text form={form} name="name" label="Name" maxLength={100} required isCode>
        Name of the environment variable, such as NPM_TOKEN.
      </Text>
      {use === 'hosts' && <HostsOf form={form} />}
      <Value
        form={form}
        label="Value"
        hint="Nobody can read the value again."
        mayHaveLines={use !== 'hosts'}
        required
      />
    </FormFrame>
  );
}

const empty: Values = { value: '', hasLines: false, hosts: [''] };

export function ChangeSecret({ secret, done, cancel }: EntryFormProperties & { secret: Secret }) {
  const { id: secretId, name } = secret;
  const hasHosts = secret.hosts.length > 0;
  const form = useForm<Values>({
    name: `secret ${secretId}`,
    prefix: `${secretId}-`,
    secrets: ['value'],
    initial: { ...empty, hosts: [...secret.hosts] },
    async send({ value, hosts }, key) {
      const input = { ...(value !== '' && { value }), ...(hasHosts && { hosts: cleanHosts(hosts) }) };
      await mutate(updateSecret, { secretId, input }, key);
      done(`Changed ${name}.`);
    },
  });
  return (
    <FormFrame form={form} action="Save" close={cancel}>
      {hasHosts && <HostsOf form={form} />}
      <Value
        form={form}
        label={`New value of ${name}`}
        hint={
          hasHosts ? 'Leave this field empty to keep the value.' : 'Replaces the current value, which nobody can read.'
        }
        mayHaveLines={!hasHosts}
        required={!hasHosts}
      />
    </FormFrame>
  );
}

const HostsOf = <V extends Values>({ form }: { form: Form<V> }) => (
  <fieldset>
    <legend>Hosts</legend>
    <Hosts
      hosts={form.values.hosts}
      set={(hosts) => form.set({ hosts } as Partial<V>)}
      path="hosts"
      errorOf={form.errorOf}
    />
    {form.errorOf('hosts') && !form.errorOf('hosts.0') && <p class="field-error">{form.errorOf('hosts')}</p>}
  </fieldset>
);

interface ValueProperties<V> {
  form: Form<V>;
  label: string;
  hint: string;
  mayHaveLines: boolean;
  required: boolean;
}

/** A password field holds only one line, so a value of several lines is entered in a visible field. */
function Value<V extends Values>({ form, mayHaveLines, ...field }: ValueProperties<V>) {
  const hasLines = mayHaveLines && form.values.hasLines;
  return (
    <>
      <Text
        form={form}
        name="value"
        maxLength={16_384}
        isCode
        {...field}
        {...(hasLines ? { rows: 6 } : { type: 'password' as const })}
      />
      {mayHaveLines && <Check form={form} name="hasLines" label="The value has several lines; show it while I type" />}
    </>
  );
}
