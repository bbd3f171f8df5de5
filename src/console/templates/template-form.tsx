// Fields of a sandbox template: its base, setup, variables, network and limits.
import { PolicyFields, policyLabels } from '../effects/policy-field.tsx';
import { missionBounds } from '../generated/documents.ts';
import { OneOf } from '../kit/choices.tsx';
import { Entries } from '../kit/entries.tsx';
import { Check, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { useReading } from '../kit/reading.ts';
import { InstanceTypeChoice } from '../missions/instance-type.tsx';
import { NetworkField } from './network-field.tsx';
import { ServicesField } from './services-field.tsx';
import { isSent, type LimitName, limitNames, type TemplateValues } from './template-values.ts';

export const labels = {
  name: 'Name',
  description: 'Description',
  base: 'Created from',
  image: 'Image',
  dockerfile: 'Dockerfile',
  setupScript: 'Setup script',
  variables: 'Variables',
  services: 'Services',
  agentNetwork: 'Network of agents',
  hasOwnSetupNetwork: 'Other hosts during setup',
  setupNetwork: 'Network of the setup',
  labels: 'Labels of runtimes',
  instanceType: 'Instance type',
  memoryMb: 'Memory in MiB',
  diskMb: 'Disk space in MiB',
  processes: 'Processes',
  stepMinutes: 'Maximum minutes of a step',
  stepModelCalls: 'Maximum model calls of a step',
  stepTokens: 'Maximum tokens of a step',
  maxMinutes: 'Maximum minutes of a mission',
  maxModelCalls: 'Maximum model calls of a mission',
  maxTokens: 'Maximum tokens of a mission',
  ...policyLabels,
};

const bases = [
  ['machine', 'The runtime’s machine'],
  ['image', 'A container image'],
  ['dockerfile', 'A Dockerfile'],
] as const;

/**
 * For each limit: what applies if the field is empty, the smallest and the largest value that can be entered. If the largest value is null,
 * the installation determines it.
 */
const limits: Record<LimitName, [hint: string, min: number, max: number | null]> = {
  memoryMb: ['the limit of the instance type', 64, 262_144],
  diskMb: ['the limit of the instance type', 256, 1_048_576],
  processes: ['as many as the runtime allows', 16, 32_768],
  stepMinutes: ['30 minutes', 1, 1_440],
  stepModelCalls: ['200', 1, 1_000],
  stepTokens: ['no limit', 1_000, 1_000_000_000],
  maxMinutes: ['the limit of the installation', 1, null],
  maxModelCalls: ['the limit of the installation', 1, null],
  maxTokens: ['the limit of the installation', 1_000, null],
};

export function TemplateFields({ form }: { form: Form<TemplateValues> }) {
  const { base, hasOwnSetupNetwork } = form.values;
  const bounds: Partial<Record<LimitName, number>> =
    useReading(missionBounds, {}).data?.agentCatalog.missionBounds ?? {};
  const showsLimits =
    form.values.instanceType !== '' || limitNames.some((name) => form.values[name] !== '' || form.errorOf(name));
  return (
    <>
      <Text form={form} name="name" label={labels.name} maxLength={120} required />
      <Text form={form} name="description" label={labels.description} maxLength={500}>
        Optional.
      </Text>
      <OneOf form={form} name="base" label={labels.base} options={bases}>
        {base === 'machine'
          ? 'Missions use the programs of the runtime’s machine, or the runtime’s own image if the runtime uses containers.'
          : ''}
      </OneOf>
      {base !== 'machine' && (
        <p class="hint">
          This choice needs a runtime with <code>ISOLATION=container</code>; on other runtimes the mission fails.
        </p>
      )}
      {base === 'image' && (
        <Text form={form} name="image" label={labels.image} maxLength={300} required>
          For example ghcr.io/acme/tools:1.
        </Text>
      )}
      {base === 'dockerfile' && (
        <Text form={form} name="dockerfile" label={labels.dockerfile} rows={10} maxLength={20_000} isCode required />
      )}
      <Text form={form} name="setupScript" label={labels.setupScript} rows={6} maxLength={20_000} isCode>
        A shell script that runs in the checkout before agents start, such as “npm ci”. Its result is kept until a lock
        file changes. Optional.
      </Text>
      <Variables form={form} />
      <ServicesField form={form} />
      <NetworkField form={form} name="agentNetwork" legend="Hosts that agents may connect to" />
      <Check form={form} name="hasOwnSetupNetwork" label="The setup has its own list of hosts" />
      {hasOwnSetupNetwork && (
        <NetworkField form={form} name="setupNetwork" legend="Hosts that the setup may connect to" />
      )}
      <Text form={form} name="labels" label={labels.labels} maxLength={1_300}>
        Missions wait for a runtime with all of these labels, such as “gpu, arm64”. Optional.
      </Text>
      <details class="more" open={form.values.waits.length > 0}>
        <summary>Outside effects that need approval</summary>
        <PolicyFields form={form} />
      </details>
      <details class="more" open={showsLimits}>
        <summary>Limits of a mission</summary>
        <InstanceTypeChoice
          form={form}
          name="instanceType"
          label={labels.instanceType}
          none="Memory of Standard 1, no limit on CPUs and disk"
        >
          A mission can choose another instance type. The limits below replace those of the type.
        </InstanceTypeChoice>
        {limitNames.map((name) => {
          const [hint, min, max] = limits[name];
          return (
            <Text
              key={name}
              form={form}
              name={name}
              label={labels[name]}
              type="number"
              min={min}
              max={max ?? bounds[name]}
            >
              {`Leave this field empty for ${hint}${max === null && bounds[name] ? `, ${bounds[name].toLocaleString('en-US')}` : ''}.`}
            </Text>
          );
        })}
      </details>
    </>
  );
}

function Variables({ form }: { form: Form<TemplateValues> }) {
  const { variables } = form.values;
  const whole = form.errorOf('variables');
  const isOfRow = variables.some((_, row) => partsOf(form, row).some(([, error]) => error));
  return (
    <fieldset>
      <legend>{labels.variables}</legend>
      <p class="hint">
        Environment variables of the setup and of agents. Everybody who can see the template can read them: store
        confidential values as secrets.
      </p>
      <Entries
        entries={variables}
        set={(changed) => form.set({ variables: changed })}
        blank={{ name: '', value: '' }}
        isBlank={(one) => !isSent(one)}
        noun="variable"
      >
        {(variable, change, index, row) => {
          const errors = index === null ? [] : partsOf(form, index);
          return (
            <div class="grow">
              <div class="pair">
                {(['name', 'value'] as const).map((part) => (
                  <input
                    key={part}
                    aria-label={`${part === 'name' ? 'Name' : 'Value'} of variable ${row + 1}`}
                    aria-invalid={errors.some(([one, error]) => one === part && error) ? 'true' : undefined}
                    aria-describedby={errors.some(([, error]) => error) ? `error-variables-${row}` : undefined}
                    class="code-input"
                    autocomplete="off"
                    spellcheck={false}
                    placeholder={part === 'name' ? 'NAME' : 'value'}
                    value={variable[part]}
                    onInput={({ currentTarget: { value } }) => change({ ...variable, [part]: value })}
                  />
                ))}
              </div>
              {errors.some(([, error]) => error) && (
                <p class="field-error" id={`error-variables-${row}`}>
                  {errors
                    .map(([, error]) => error)
                    .filter(Boolean)
                    .join(' ')}
                </p>
              )}
            </div>
          );
        }}
      </Entries>
      {whole && !isOfRow && <p class="field-error">{whole}</p>}
    </fieldset>
  );
}

const partsOf = (form: Form<TemplateValues>, index: number) =>
  (['name', 'value'] as const).map((part) => [part, form.errorOf(`variables.${index}.${part}`)] as const);
