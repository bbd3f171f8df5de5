// Fields for the agent and the task of a mission: a prompt for an agent with a model, or a script for a script agent.
import type { ComponentChildren } from 'preact';
import { type AgentNamesQuery, agentNames } from '../generated/documents.ts';
import { Choice, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { may, pageAt } from '../kit/page.ts';
import { useReading } from '../kit/reading.ts';

export type NamedAgent = AgentNamesQuery['agents']['data'][number];

/** The names of agents; null until they are read, and for a person who is not allowed to read them. */
export function useAgents(): readonly NamedAgent[] | null {
  const { data } = useReading(agentNames, {});
  return data?.agents.data ?? null;
}

/** Whether a mission may start with this agent or, without one, with the team. */
export const hasModel = (agents: readonly NamedAgent[] | null, agentId: string): boolean =>
  agents === null ||
  (agentId === ''
    ? agents.some((agent) => agent.harness !== 'shell' && agent.hasModel)
    : (agents.find(({ id }) => id === agentId)?.hasModel ?? true));

interface TaskProperties<V> {
  form: Form<V>;
  agents: readonly NamedAgent[] | null;
  hint?: string;
}

interface AgentProperties<V> {
  form: Form<V>;
  agents: readonly NamedAgent[] | null;
  children?: ComponentChildren;
}

/** The choice between the team and one agent. */
export const AgentChoice = <V extends { agentId: string }>({ form, agents, children }: AgentProperties<V>) =>
  agents && (
    <Choice
      form={form}
      name="agentId"
      label="Agent"
      options={[['', 'The organization’s team'], ...agents.map((agent) => [agent.id, wordsOf(agent)] as const)]}
    >
      {children}
    </Choice>
  );

export function TaskFields<V extends { agentId: string; prompt: string }>({ form, agents, hint }: TaskProperties<V>) {
  const { agentId } = form.values;
  const isScript = agents?.find(({ id }) => id === agentId)?.harness === 'shell';
  return (
    <>
      <AgentChoice form={form} agents={agents}>
        Choose one agent, or use the organization’s team. A script needs no model.
      </AgentChoice>
      {!hasModel(agents, agentId) && <NoModel />}
      {isScript ? (
        <Text form={form} name="prompt" label="Script" rows={8} maxLength={20_000} isCode required>
          A POSIX shell script, which runs unchanged and without a model.
        </Text>
      ) : (
        <Text form={form} name="prompt" label="Task" rows={8} maxLength={20_000} required>
          {hint}
        </Text>
      )}
    </>
  );
}

const wordsOf = ({ name, harness, model, hasModel }: NamedAgent): string => {
  if (harness === 'shell') return name === 'Script' ? 'Script' : `${name} (script)`;
  return `${name} (${harness} with ${model}${hasModel ? '' : ', not connected'})`;
};

export const NoModel = () => (
  <div class="note row" role="status">
    <div>
      <strong>No model is connected</strong>
      <div>An agent needs a language model. {!may('integrations:write') && 'An admin can connect one.'}</div>
    </div>
    {may('integrations:write') && (
      <a class="button slim" href={pageAt('/integrations?connect=model')}>
        Connect a model
      </a>
    )}
  </div>
);
