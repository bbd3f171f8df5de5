// The network policy of a phase: which hosts can be connected to.

import { type NetworkMode, packageRegistries } from '../generated/documents.ts';
import { Hosts } from '../kit/entries.tsx';
import { FieldError } from '../kit/field-error.tsx';
import type { Form } from '../kit/form.ts';
import { useReading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';
import { type Policy, type TemplateValues, takesHosts } from './template-values.ts';

const modes: readonly (readonly [mode: NetworkMode, words: string])[] = [
  ['packages', 'Package registries'],
  ['custom', 'Only hosts that I add'],
  ['open', 'Every public host'],
  ['none', 'No host'],
];
const explained: Record<NetworkMode, string> = {
  packages: 'The public registries below, and hosts that you add.',
  custom: 'No other host can be reached, not even package registries.',
  open: 'Agents can send what they read to any site. Use this policy only if the repository holds nothing confidential.',
  none: 'No connection is possible, except to the model.',
};

/** The policy in a few words. */
export function networkWords({ mode, hosts }: { mode: NetworkMode; hosts: readonly string[] }): string {
  const own = plural(hosts.length, 'host');
  if (mode === 'packages') return hosts.length > 0 ? `Package registries and ${own}` : 'Package registries';
  return mode === 'custom' ? `Only ${own}` : mode === 'open' ? 'Every public host' : 'No host';
}

interface Properties {
  form: Form<TemplateValues>;
  name: 'agentNetwork' | 'setupNetwork';
  legend: string;
}

export function NetworkField({ form, name, legend }: Properties) {
  const { mode, hosts } = form.values[name];
  const set = (change: Partial<Policy>) => form.set({ [name]: { ...form.values[name], ...change } });
  const error = form.errorOf(`${name}.hosts`) ?? form.errorOf(`${name}.mode`);
  return (
    <fieldset aria-describedby={`hint-${name}`}>
      <legend>{legend}</legend>
      <div class="choices">
        {modes.map(([one, words]) => (
          <label key={one} class="choice">
            <input type="radio" name={name} checked={mode === one} onChange={() => set({ mode: one })} />
            {words}
          </label>
        ))}
      </div>
      <p class="hint after" id={`hint-${name}`}>
        {explained[mode]}
      </p>
      {mode === 'packages' && <Registries />}
      {takesHosts(mode) && (
        <>
          <p class="hint">
            For example <code>api.example.com</code>, <code>*.example.com</code> for all subdomains, or{' '}
            <code>example.com:8443</code> for a port other than 80 and 443.
          </p>
          <Hosts
            hosts={hosts}
            set={(changed) => set({ hosts: changed })}
            path={`${name}.hosts`}
            errorOf={form.errorOf}
          />
        </>
      )}
      <FieldError text={error} />
    </fieldset>
  );
}

/** The public registries by name. Their hosts are shown on request. */
export function Registries() {
  const { data } = useReading(packageRegistries, {});
  const registries = data?.agentCatalog.packageRegistries;
  if (!registries) return null;
  return (
    <details class="registries">
      <summary>{registries.map(({ name }) => name).join(', ')}</summary>
      <dl class="facts small">
        {registries.map(({ name, hosts }) => (
          <>
            <dt>{name}</dt>
            <dd>
              <code>{hosts.join(' ')}</code>
            </dd>
          </>
        ))}
      </dl>
    </details>
  );
}
