// The part of the start form for several attempts. Each attempt can have its own agent, model and task.
import { attemptModels } from '../generated/documents.ts';
import { FieldError } from '../kit/field-error.tsx';
import { Choice } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { useReading } from '../kit/reading.ts';
import type { NamedAgent } from './mission-task.tsx';
import '../attempts/attempts.css';

export interface AttemptChoice {
  agentId: string;
  model: string;
  prompt: string;
}

/** Values of the fields with which a person starts several attempts at one task. `count` is the number of attempts as a text. */
export interface AttemptValues {
  count: string;
  attempts: AttemptChoice[];
}

const none: AttemptChoice = { agentId: '', model: '', prompt: '' };
export const oneAttempt: AttemptValues = { count: '1', attempts: Array(8).fill(none) };

/** The argument `attempts`; absent for a single mission. */
export function attemptsArgument({ count, attempts }: AttemptValues) {
  if (count === '1') return {};
  const chosen = attempts.slice(0, Number(count)).map(({ agentId, model, prompt }) => ({
    ...(agentId && { agentId }),
    ...(model && { model }),
    ...(prompt.trim() && { prompt }),
  }));
  return { attempts: chosen };
}

interface Properties<V> {
  form: Form<V>;
  agents: readonly NamedAgent[] | null;
}

export function AttemptFields<V extends AttemptValues & { agentId: string }>({ form, agents }: Properties<V>) {
  const count = Number(form.values.count);
  return (
    <>
      <Choice
        form={form}
        name="count"
        label="Attempts"
        options={[['1', 'One'], ...[2, 3, 4, 5, 6, 7, 8].map((n) => [String(n), `${n} at once`] as const)]}
      >
        Several agents, models or prompts work on the task at once, each on a branch of its own. You compare them and
        choose one; only that one opens a pull request. The budget covers all of them together.
      </Choice>
      {count > 1 && (
        <div class="attempt-rows field">
          {Array.from({ length: count }, (_, i) => (
            <AttemptRow key={i} form={form} agents={agents} index={i} />
          ))}
        </div>
      )}
    </>
  );
}

function AttemptRow<V extends AttemptValues & { agentId: string }>({
  form,
  agents,
  index,
}: Properties<V> & { index: number }) {
  const { data } = useReading(attemptModels, {});
  const attempt = form.values.attempts[index] ?? none;
  const set = (change: Partial<AttemptChoice>) =>
    form.set({
      attempts: form.values.attempts.map((one, i) => (i === index ? { ...one, ...change } : one)),
    } as Partial<V>);
  const agent = agents?.find(({ id }) => id === (attempt.agentId || form.values.agentId));
  const harnesses = data?.agentCatalog.harnesses.filter(({ id }) =>
    agent?.isBuiltin ? id !== 'shell' && id !== 'acp' : id === agent?.harness,
  );
  const models = new Map(harnesses?.flatMap((harness) => harness.models.map(({ id, label }) => [id, label] as const)));
  const id = (part: string) => `attempt-${index}-${part}`;
  const error = (part: string) => form.errorOf(`attempts.${index}.${part}`);
  return (
    <fieldset class="attempt-row">
      <legend>Attempt {index + 1}</legend>
      <div>
        <label for={id('agent')}>Agent</label>
        <select
          id={id('agent')}
          value={attempt.agentId}
          aria-invalid={error('agentId') !== null}
          aria-describedby={id('agent-error')}
          onChange={({ currentTarget }) => set({ agentId: currentTarget.value, model: '' })}
        >
          <option value="">As above</option>
          {agents
            ?.filter(({ harness }) => harness !== 'shell')
            .map(({ id: agentId, name }) => (
              <option key={agentId} value={agentId}>
                {name}
              </option>
            ))}
        </select>
        <FieldError id={id('agent-error')} text={error('agentId')} />
      </div>
      <div>
        <label for={id('model')}>Model</label>
        <select
          id={id('model')}
          value={attempt.model}
          disabled={!agent || models.size === 0}
          aria-invalid={error('model') !== null}
          aria-describedby={id('model-error')}
          onChange={({ currentTarget }) => set({ model: currentTarget.value })}
        >
          <option value="">{agent ? `The agent’s own (${agent.model})` : 'Choose an agent first'}</option>
          {[...models].map(([model, label]) => (
            <option key={model} value={model}>
              {label}
            </option>
          ))}
        </select>
        <FieldError id={id('model-error')} text={error('model')} />
      </div>
      <details class="wide" open={attempt.prompt !== ''}>
        <summary>A different task for this attempt</summary>
        <textarea
          aria-label={`Task of attempt ${index + 1}`}
          rows={4}
          maxLength={20_000}
          value={attempt.prompt}
          onInput={({ currentTarget }) => set({ prompt: currentTarget.value })}
        />
      </details>
    </fieldset>
  );
}
