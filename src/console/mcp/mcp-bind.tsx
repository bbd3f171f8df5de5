// Binds an MCP server to a project, or changes how it is bound: roles, credentials that are never shown again, and hosts.
import { useState } from 'preact/hooks';
import { type AgentRole, type ProjectMcpQuery, projectMcp, putMcpBinding } from '../generated/documents.ts';
import { Group, Several } from '../kit/choices.tsx';
import { ask, mutate } from '../kit/client.ts';
import { Check, FormFrame, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';

export type Server = ProjectMcpQuery['projectMcp']['servers'][number];
export type Binding = NonNullable<Server['binding']>;

const roles = ['planner', 'builder', 'reviewer', 'qa', 'researcher'] as const satisfies AgentRole[];

interface Values {
  roles: readonly AgentRole[];
  /** Entered values by the name of the secret; an empty field keeps the stored value. */
  credentials: Record<string, string>;
  allowedEgressHosts: string;
  isDisabled: boolean;
}

const valuesOf = (binding: Binding | null): Values => ({
  roles: roles.filter((role) => (binding?.roles ?? ['builder']).includes(role)),
  credentials: {},
  allowedEgressHosts: binding?.allowedEgressHosts.join(' ') ?? '',
  isDisabled: binding?.status === 'disabled',
});

const labels = { roles: 'Roles', allowedEgressHosts: 'Other hosts', isDisabled: 'Disabled' };

interface Properties {
  projectId: string;
  server: Server;
  done(words: string): void;
}

export function BindForm({ projectId, server, done }: Properties) {
  const { name: serverName, declared, binding } = server;
  const [isOpen, setOpen] = useState(!binding);
  const form = useForm<Values>({
    name: `MCP server ${projectId} ${serverName}`,
    prefix: `${serverName}-`,
    initial: valuesOf(binding),
    secrets: ['credentials'],
    ...(binding && { current: () => readBinding(projectId, serverName) }),
    async send({ roles, credentials, allowedEgressHosts, isDisabled }, key, ifUpdatedAt) {
      const enteredCredentials = Object.entries(credentials).filter(([, value]) => value !== '');
      const input = {
        roles: [...roles],
        enabled: !isDisabled,
        allowedEgressHosts: allowedEgressHosts.split(/[\s,]+/).filter(Boolean),
        ...(enteredCredentials.length > 0 && { credentials: Object.fromEntries(enteredCredentials) }),
      };
      await mutate(putMcpBinding, { projectId, serverName, input, ifUpdatedAt }, key);
      done(`Saved. Roles that may use it: ${roles.join(', ') || 'none'}.`);
    },
  });
  if (!isOpen && !form.isRestored)
    return (
      <div class="actions">
        <button type="button" class="quiet slim" onClick={() => setOpen(true)}>
          Change roles and credentials<span class="unseen"> of {serverName}</span>
        </button>
      </div>
    );
  return (
    <FormFrame form={form} action={binding ? `Save binding of ${serverName}` : `Bind ${serverName}`} labels={labels}>
      <Several
        form={form}
        name="roles"
        label="Roles that may use the server"
        options={roles.map((role) => [role, role])}
      />
      <Secrets form={form} names={declared?.secretRefs ?? []} stored={binding?.credentialFields ?? []} />
      <Text form={form} name="allowedEgressHosts" label="Other hosts">
        More hosts that the server may contact, such as its authorization server. Separate with spaces. Optional.
      </Text>
      {binding && <Check form={form} name="isDisabled" label="Disabled: no mission can use it" />}
    </FormFrame>
  );
}

/** Reads the binding again, to detect changes by other people. */
async function readBinding(projectId: string, serverName: string) {
  const { servers } = (await ask(projectMcp, { projectId })).projectMcp;
  const binding = servers.find(({ name }) => name === serverName)?.binding ?? null;
  return [valuesOf(binding), binding?.updatedAt ?? 0] as const;
}

function Secrets({ form, names, stored }: { form: Form<Values>; names: readonly string[]; stored: readonly string[] }) {
  if (names.length === 0) return null;
  const { credentials } = form.values;
  const error = form.errorOf('credentials');
  return (
    <Group form={form} name="credentials" label="Credentials" hint="Credentials are encrypted, and never shown again.">
      {names.map((name) => (
        <div class="field" key={name}>
          <label for={`secret-${form.prefix}${name}`}>{name}</label>
          {stored.includes(name) && <p class="hint">Stored. Leave the field empty to keep the value.</p>}
          <input
            type="password"
            id={`secret-${form.prefix}${name}`}
            autocomplete="new-password"
            aria-invalid={error && credentials[name] ? 'true' : undefined}
            value={credentials[name] ?? ''}
            onInput={({ currentTarget }) => form.set({ credentials: { ...credentials, [name]: currentTarget.value } })}
          />
        </div>
      ))}
    </Group>
  );
}
