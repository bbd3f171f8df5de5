// Limits of a mission in the form that starts it.
import { useState } from 'preact/hooks';
import { missionBounds } from '../generated/documents.ts';
import { Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { useReading } from '../kit/reading.ts';

export const noLimits = { maxMinutes: '', maxModelCalls: '', maxTokens: '' };
type Limits = typeof noLimits;

const limitFields = [
  ['maxMinutes', 'Sandbox minutes', 1],
  ['maxModelCalls', 'Model calls', 1],
  ['maxTokens', 'Tokens', 1_000],
] as const;

/** The limits that have a value, as numbers. */
export const limitsOf = (limits: Limits): Partial<Record<keyof Limits, number>> =>
  Object.fromEntries(limitFields.flatMap(([name]) => (limits[name] ? [[name, Number(limits[name])]] : [])));

export function MissionLimits<V extends Limits>({ form }: { form: Form<V> }) {
  const bounds = useReading(missionBounds, {}).data?.agentCatalog.missionBounds;
  // The fields are unfolded at first if there are values of an earlier visit. Emptying a field does not fold them.
  const [isOpen] = useState(() => limitFields.some(([name]) => form.values[name] !== ''));
  const hasError = limitFields.some(([name]) => form.errorOf(name));
  return (
    <details class="more" open={isOpen || hasError}>
      <summary>Limits of the mission</summary>
      <p class="hint">
        The mission waits for you when it reaches a limit. An empty field leaves the limit to the sandbox template and
        the installation.
      </p>
      {limitFields.map(([name, label, min]) => (
        <Text key={name} form={form} name={name} label={label} type="number" min={min} max={bounds?.[name]} />
      ))}
    </details>
  );
}
