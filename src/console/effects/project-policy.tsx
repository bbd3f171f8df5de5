// The part of a project's settings that shows and changes which outside effects wait for approval.
import { type ProjectSettingsQuery, projectSettings, setProjectEffectPolicy } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Card, Pill } from '../kit/pieces.tsx';
import { PolicyFields, policyInput, policyLabels, policyValues } from './policy-field.tsx';

type Settings = ProjectSettingsQuery['project'];

export function EffectPolicy({ project, read }: { project: Settings; read(): void }) {
  const { id: projectId, effectPolicy } = project;
  const form = useForm({
    name: `effects of ${projectId}`,
    initial: policyValues(effectPolicy),
    current: async () => [policyValues((await ask(projectSettings, { projectId })).project.effectPolicy), null],
    async send(values, key) {
      await mutate(setProjectEffectPolicy, { projectId, policy: policyInput(values) }, key);
      read();
    },
  });
  return (
    <Card title="Outside effects" aside={<Pill status={effectPolicy ? 'on' : 'off'} />}>
      <FormFrame form={form} action="Save policy" labels={policyLabels}>
        <PolicyFields form={form} />
      </FormFrame>
    </Card>
  );
}
