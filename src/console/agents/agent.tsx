// One agent: created, changed and deleted if it belongs to the organization, read-only if it is built in.
import { useLocation } from 'preact-iso';
import {
  type AgentCatalogQuery,
  type AgentEffort,
  type AgentQuery,
  type AgentRole,
  agentCatalog,
  createAgent,
  deleteAgent,
  agent as oneAgent,
  runtimes,
  updateAgent,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { standard, TemplateChoice } from '../templates/template-choice.tsx';
import { runsOn } from './agents.tsx';

type Catalog = AgentCatalogQuery['agentCatalog'];

const above = [[pageAt('/agents'), 'Agents']] as const;

const labels = {
  name: 'Name',
  role: 'Role',
  harness: 'Harness',
  model: 'Model',
  effort: 'Effort',
  userPrompt: 'Instructions',
  skillRepos: 'Repositories with skills',
  sandbox: 'Sandbox template',
};

const valuesOf = (agent: AgentQuery['agent']) => {
  const { name, role, harness, model, effort, userPrompt, skillRepos, sandboxTemplateId } = agent;
  return {
    ...{ name, harness, model, role: role as string },
    effort: (effort ?? '') as string,
    userPrompt: userPrompt ?? '',
    skillRepos: skillRepos.join('\n'),
    sandbox: sandboxTemplateId,
  };
};

type Values = ReturnType<typeof valuesOf>;

const inputOf = ({ role, effort, userPrompt, skillRepos, sandbox, ...rest }: Values) => ({
  ...rest,
  role: role as AgentRole,
  effort: (effort || null) as AgentEffort | null,
  userPrompt: optional(userPrompt),
  skillRepos: skillRepos.split(/\s+/).filter(Boolean),
  sandbox: { kind: 'existing' as const, templateId: sandbox },
});

function Fields({ form, catalog }: { form: Form<Values>; catalog: Catalog }) {
  const models = catalog.harnesses.find(({ id }) => id === form.values.harness)?.models ?? [];
  return (
    <>
      <Text form={form} name="name" label="Name" maxLength={120} required />
      <Choice
        form={form}
        name="role"
        label="Role"
        options={catalog.roles.map(({ key, name, blurb }) => [key, `${name}: ${blurb}`] as const)}
      />
      <Choice
        form={form}
        name="harness"
        label="Harness"
        hint="The program that drives the model. A mission waits until a runtime offers it."
        options={catalog.harnesses.map(({ id, label }) => [id, label] as const)}
      />
      <Choice form={form} name="model" label="Model" options={models.map(({ id, label }) => [id, label] as const)} />
      <Choice
        form={form}
        name="effort"
        label="Effort"
        hint="Limit on the model’s reasoning effort."
        options={[
          ['', 'Harness default'],
          ['low', 'Low'],
          ['medium', 'Medium'],
          ['high', 'High'],
        ]}
      />
      <Text
        form={form}
        name="userPrompt"
        label="Instructions"
        hint="Added to the issue. Optional."
        rows={6}
        maxLength={20_000}
      />
      <Text
        form={form}
        name="skillRepos"
        label="Repositories with skills"
        hint="One owner/repository per line. Optional."
        rows={3}
      />
      <TemplateChoice
        form={form}
        name="sandbox"
        label={labels.sandbox}
        standardWords="The project’s template"
        hint="The environment in which the agent works."
      />
    </>
  );
}

export function NewAgent() {
  const { data, problem, read } = useReading(agentCatalog, {});
  return (
    <>
      <Heading title="Create an agent" above={above} />
      {problem && <ErrorNote problem={problem} retry={read} />}
      {data ? <Creation catalog={data.agentCatalog} /> : !problem && <Skeleton rows={5} height={72} />}
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
  const { route } = useLocation();
  const agent = data?.agent;
  const mayChange = agent && !agent.isBuiltin && may('agents:write');
  const able = connected?.runtimes.data.filter(({ isConnected }) => isConnected);
  return (
    <>
      <Heading title={agent?.name ?? null} above={above}>
        {mayChange && (
          <Action
            label="Delete"
            class="danger slim"
            question={`“${agent.name}” gets no new missions.`}
            act={async (key) => {
              await mutate(deleteAgent, { agentId }, key);
              route(pageAt('/agents'));
            }}
          />
        )}
      </Heading>
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!agent || !catalog ? (
        !problem && <Skeleton rows={5} height={72} />
      ) : (
        <>
          {able && <p class="about muted">With the connected runtimes: {runsOn(agent.harness, able)}.</p>}
          {mayChange ? <Edit agent={agent} catalog={catalog.agentCatalog} read={read} /> : <Facts agent={agent} />}
        </>
      )}
    </>
  );
}

function Edit({ agent, catalog, read }: { agent: AgentQuery['agent']; catalog: Catalog; read(): void }) {
  const { id: agentId } = agent;
  const form = useForm({
    name: `agent ${agentId}`,
    initial: valuesOf(agent),
    async current() {
      const { agent: now } = await ask(oneAgent, { agentId });
      return [valuesOf(now), now.updatedAt];
    },
    async send(values, key, ifUpdatedAt) {
      await mutate(updateAgent, { agentId, input: inputOf(values), ifUpdatedAt }, key);
      read();
    },
  });
  return (
    <Card title="Agent">
      <FormFrame form={form} action="Save" cancel={pageAt('/agents')} labels={labels}>
        <Fields form={form} catalog={catalog} />
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
