// The settings of an agent as values of a form, and the fields for them.
import type { AgentCatalogQuery, AgentEffort, AgentQuery, AgentRole } from '../generated/documents.ts';
import { Choice, optional, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { TemplateChoice } from '../templates/template-choice.tsx';

export type Catalog = AgentCatalogQuery['agentCatalog'];

export const labels = {
  name: 'Name',
  role: 'Role',
  harness: 'Harness',
  model: 'Model',
  effort: 'Effort',
  userPrompt: 'Instructions',
  skillRepos: 'Repositories with skills',
  sandbox: 'Sandbox template',
};

export const valuesOf = (agent: AgentQuery['agent']) => {
  const { name, role, harness, model, effort, userPrompt, skillRepos, sandboxTemplateId } = agent;
  return {
    ...{ name, harness, model, role: role as string },
    effort: (effort ?? '') as string,
    userPrompt: userPrompt ?? '',
    skillRepos: skillRepos.join('\n'),
    sandbox: sandboxTemplateId,
  };
};

export type Values = ReturnType<typeof valuesOf>;

export const inputOf = ({ role, effort, userPrompt, skillRepos, sandbox, ...rest }: Values) => ({
  ...rest,
  role: role as AgentRole,
  effort: (effort || null) as AgentEffort | null,
  userPrompt: optional(userPrompt),
  skillRepos: skillRepos.split(/\s+/).filter(Boolean),
  sandbox: { kind: 'existing' as const, templateId: sandbox },
});

const efforts = [
  ['', 'Harness default'],
  ['low', 'Low'],
  ['medium', 'Medium'],
  ['high', 'High'],
] as const;

export function Fields<V extends Values>({ form, catalog }: { form: Form<V>; catalog: Catalog }) {
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
        options={catalog.harnesses.map(({ id, label }) => [id, label] as const)}
      >
        The program that drives the model. Missions wait for a runtime that offers it.
      </Choice>
      <Choice form={form} name="model" label="Model" options={models.map(({ id, label }) => [id, label] as const)} />
      <Choice form={form} name="effort" label="Effort" options={efforts}>
        Limit on the model’s reasoning effort.
      </Choice>
      <Text form={form} name="userPrompt" label="Instructions" rows={6} maxLength={20_000}>
        The agent gets these instructions in addition to the issue. Optional.
      </Text>
      <Text form={form} name="skillRepos" label="Repositories with skills" rows={3}>
        One owner/repository per line. Optional.
      </Text>
      <TemplateChoice form={form} name="sandbox" label={labels.sandbox} standardWords="The project’s template">
        The environment in which the agent works.
      </TemplateChoice>
    </>
  );
}
