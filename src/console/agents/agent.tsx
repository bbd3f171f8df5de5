// One agent: created, changed and deleted if it belongs to the organization, read-only if it is built in.

import { useLocation } from 'preact-iso';
import { HistoryLink } from '../audit/history-link.tsx';
import {
  type AgentQuery,
  agentCatalog,
  createAgent,
  deleteAgent,
  agent as oneAgent,
  runtimes,
  startAgentTrial,
  updateAgent,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { DeleteRecord } from '../kit/delete-record.tsx';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, ErrorNote, Loaded, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { standard } from '../templates/template-choice.tsx';
import { type Catalog, Fields, inputOf, labels, type Values, valuesOf } from './agent-fields.tsx';
import { runsOn } from './agents.tsx';
import { Versions } from './versions.tsx';

const above = [[pageAt('/agents'), 'Agents']] as const;

export function NewAgent() {
  const { data, problem, read } = useReading(agentCatalog, {});
  return (
    <>
      <Heading title="Create an agent" above={above} />
      <Loaded value={data} problem={problem} retry={read} rows={5} height={72}>
        {(data) => <Creation catalog={data.agentCatalog} />}
      </Loaded>
    </>
  );
}

function Creation({ catalog }: { catalog: Catalog }) {
  const { route } = useLocation();
  const harness = catalog.harnesses[0]!;
  const form = useForm<Values>({
    name: 'agent',
    initial: {
      ...{ name: '', role: 'builder', effort: '', userPrompt: '', skillRepos: '', sandbox: standard },
      ...{ harness: harness.id, model: harness.models[0]?.id ?? '' },
    },
    async send(values, key) {
      const { createAgent: made } = await mutate(createAgent, { input: inputOf(values) }, key);
      route(pageAt(`/agents/${made.id}`));
    },
  });
  return (
    <Card title="Agent">
      <FormFrame form={form} action="Create agent" cancel={pageAt('/agents')}>
        <Fields form={form} catalog={catalog} />
      </FormFrame>
    </Card>
  );
}

export function Agent({ id: agentId }: { id: string }) {
  const { data, problem, read } = useReading(oneAgent, { agentId });
  const { data: catalog } = useReading(agentCatalog, {});
  const { data: connected } = useReading(runtimes, {});
  const agent = data?.agent;
  const mayChange = agent && !agent.isBuiltin && may('agents:write');
  const able = connected?.runtimes.data.filter(({ isConnected }) => isConnected);
  return (
    <>
      <Heading title={agent?.name ?? null} above={above}>
        {mayChange && <HistoryLink id={agentId} />}
        {mayChange && (
          <DeleteRecord
            question={`“${agent.name}” gets no new missions.`}
            list="/agents"
            remove={(key) => mutate(deleteAgent, { agentId }, key)}
          />
        )}
      </Heading>
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!agent || !catalog ? (
        !problem && <Skeleton rows={5} height={72} />
      ) : (
        <>
          {able && <p class="about muted">Availability: {runsOn(agent.harness, able)}.</p>}
          {mayChange ? (
            <Edit
              key={`${agent.version} ${agent.trialVersion}`}
              agent={agent}
              catalog={catalog.agentCatalog}
              read={read}
            />
          ) : (
            <Facts agent={agent} />
          )}
          {!agent.isBuiltin && <Versions key={agent.updatedAt} agent={agent} read={read} />}
        </>
      )}
    </>
  );
}

/** Missions that use the changed agent: all, or a percentage as a trial. */
const allMissions = '100';
const beside = { note: '', share: allMissions };

function Edit({ agent, catalog, read }: { agent: AgentQuery['agent']; catalog: Catalog; read(): void }) {
  const { id: agentId } = agent;
  const form = useForm({
    name: `agent ${agentId}`,
    initial: { ...valuesOf(agent), ...beside },
    async current() {
      const { agent: now } = await ask(oneAgent, { agentId });
      return [{ ...valuesOf(now), ...beside }, now.updatedAt];
    },
    async send({ note: words, share, ...values }, key, ifUpdatedAt) {
      const input = inputOf(values);
      const note = optional(words);
      if (share === allMissions) await mutate(updateAgent, { agentId, input, note, ifUpdatedAt }, key);
      else {
        const { name: _, role: __, ...changes } = input;
        await mutate(startAgentTrial, { agentId, input: { percent: Number(share), changes, note } }, key);
      }
      read();
    },
  });
  const isTrial = form.values.share !== allMissions;
  return (
    <Card title="Agent">
      <FormFrame form={form} action={isTrial ? 'Start trial' : 'Save'} cancel={pageAt('/agents')} labels={labels}>
        <Fields form={form} catalog={catalog} />
        <Choice
          form={form}
          name="share"
          label="Applies to"
          options={[
            [allMissions, 'All new missions'],
            ['50', 'Trial: 50 % of new missions'],
            ['25', 'Trial: 25 % of new missions'],
            ['10', 'Trial: 10 % of new missions'],
          ]}
        >
          In a trial, a share of new missions uses the change until you decide. A new name or role applies to all
          missions.
        </Choice>
        <Text form={form} name="note" label="Note" maxLength={500}>
          Reason for the change. Optional.
        </Text>
      </FormFrame>
    </Card>
  );
}

const sandboxWords = ({ sandboxTemplateId, sandboxTemplate }: AgentQuery['agent']): string =>
  sandboxTemplateId === standard ? 'The project’s template' : (sandboxTemplate?.name ?? sandboxTemplateId);

const Facts = ({ agent }: { agent: AgentQuery['agent'] }) => (
  <Card title="Agent" aside={agent.isBuiltin && 'built-in'}>
    <dl class="facts">
      {Object.entries({ ...valuesOf(agent), sandbox: sandboxWords(agent) }).map(([name, value]) =>
        value === '' || name === 'name' ? null : (
          <>
            <dt>{labels[name as keyof typeof labels]}</dt>
            <dd class="pre">{value}</dd>
          </>
        ),
      )}
    </dl>
    {agent.isBuiltin && <p class="muted small">A built-in agent cannot be changed. Create one of your own instead.</p>}
  </Card>
);
