// The page of one sandbox template: a person creates a template, also as a copy of another one, changes it or deletes it. Built-in templates
// are shown read-only, and so are all templates to people who may not change agents.
import { useLocation } from 'preact-iso';
import { HistoryLink } from '../audit/history-link.tsx';
import {
  createSandboxTemplate,
  deleteSandboxTemplate,
  sandboxTemplate,
  updateSandboxTemplate,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { DeleteRecord } from '../kit/delete-record.tsx';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Loaded } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { SecretsCard } from '../secrets/secrets.tsx';
import { networkWords } from './network-field.tsx';
import { standard } from './template-choice.tsx';
import { labels, TemplateFields } from './template-form.tsx';
import { inputOf, limitNames, type Template, valuesOf } from './template-values.ts';
import { baseWords } from './templates.tsx';

const above = [[pageAt('/templates'), 'Sandbox templates']] as const;

export function NewTemplate() {
  const from = useLocation().query.from || standard;
  const { data, problem, read } = useReading(sandboxTemplate, { templateId: from });
  return (
    <>
      <Heading title="Create a sandbox template" above={above} />
      <Loaded value={data} problem={problem} retry={read} rows={5} height={72}>
        {(data) => <Creation source={data.sandboxTemplate} />}
      </Loaded>
    </>
  );
}

function Creation({ source }: { source: Template }) {
  const { route } = useLocation();
  const form = useForm({
    name: `template from ${source.id}`,
    initial: {
      ...valuesOf(source),
      name: source.isBuiltin ? '' : `${source.name.slice(0, 113)} (copy)`,
    },
    async send(values, key) {
      const { createSandboxTemplate: made } = await mutate(createSandboxTemplate, { input: inputOf(values) }, key);
      route(pageAt(`/templates/${made.id}`));
    },
  });
  return (
    <Card title="Template">
      <FormFrame form={form} action="Create template" cancel={pageAt('/templates')}>
        <TemplateFields form={form} />
      </FormFrame>
    </Card>
  );
}

export function SandboxTemplate({ id: templateId }: { id: string }) {
  const { data, problem, read } = useReading(sandboxTemplate, { templateId });
  const template = data?.sandboxTemplate;
  const mayWrite = may('agents:write');
  const mayChange = mayWrite && template && !template.isBuiltin;
  return (
    <>
      <Heading title={template?.name ?? null} above={above}>
        <CopyAs
          path={`/sandbox-templates/${templateId}`}
          graphql={`{ sandboxTemplate(templateId: "${templateId}") { id name base } }`}
          client={`client.sandboxTemplate({ templateId: '${templateId}' })`}
          cli={`aep templates show ${templateId}`}
        />
        {template && !template.isBuiltin && <HistoryLink id={templateId} />}
        {mayWrite && template && (
          <a class="button quiet slim" href={pageAt(`/templates/new?from=${templateId}`)}>
            Duplicate
          </a>
        )}
        {mayChange && (
          <DeleteRecord
            question={`“${template.name}” and its secrets and variables are deleted. This cannot be undone.`}
            list="/templates"
            remove={(key) => mutate(deleteSandboxTemplate, { templateId }, key)}
          />
        )}
      </Heading>
      <Loaded value={template} problem={problem} retry={read} rows={5} height={72}>
        {(template) => (
          <div class="columns">
            {mayChange ? <Edit template={template} read={read} /> : <Facts template={template} />}
            <div class="column">
              <Uses template={template} />
              {!template.isBuiltin && may('secrets:read') && <SecretsCard place={{ scope: 'template', templateId }} />}
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Edit({ template, read }: { template: Template; read(): void }) {
  const { id: templateId } = template;
  const form = useForm({
    name: `template ${templateId}`,
    initial: valuesOf(template),
    async current() {
      const { sandboxTemplate: now } = await ask(sandboxTemplate, { templateId });
      return [valuesOf(now), now.updatedAt];
    },
    async send(values, key, ifUpdatedAt) {
      await mutate(updateSandboxTemplate, { templateId, input: inputOf(values), ifUpdatedAt }, key);
      read();
    },
  });
  return (
    <Card title="Template" aside="Changes apply from the next step of each mission.">
      <FormFrame form={form} action="Save" cancel={pageAt('/templates')} labels={labels}>
        <TemplateFields form={form} />
      </FormFrame>
    </Card>
  );
}

function Facts({ template }: { template: Template }) {
  const { description, dockerfile, setupScript, variables, services, setupNetwork, agentNetwork, isBuiltin } = template;
  const facts: [label: string, value: string | null, isCode?: boolean][] = [
    [labels.description, description],
    [labels.base, baseWords(template)],
    [isBuiltin ? 'Default image of containers' : labels.dockerfile, dockerfile, true],
    [labels.setupScript, setupScript, true],
    [labels.variables, variables.map(({ name, value }) => `${name}=${value}`).join('\n'), true],
    [labels.services, services.map(({ name, image }) => `${name}: ${image}`).join('\n'), true],
    [labels.agentNetwork, [networkWords(agentNetwork), ...agentNetwork.hosts].join('\n')],
    [labels.setupNetwork, [networkWords(setupNetwork), ...setupNetwork.hosts].join('\n')],
    ...limitNames.map((name): [string, string] => [labels[name], String(template[name] ?? '')]),
  ];
  return (
    <Card title="Template" aside={isBuiltin && 'built-in'}>
      <dl class="facts">
        {facts.map(([label, value, isCode]) =>
          value ? (
            <>
              <dt>{label}</dt>
              <dd class="pre">{isCode ? <code>{value}</code> : value}</dd>
            </>
          ) : null,
        )}
      </dl>
      {isBuiltin && (
        <p class="muted small">The built-in template cannot be changed. “Duplicate” creates one of your own from it.</p>
      )}
    </Card>
  );
}

function Uses({ template: { isBuiltin, projects, agents } }: { template: Template }) {
  const uses = [
    ...(projects ?? []).map(({ id, name }) => ['Project', `/projects/${id}`, name] as const),
    ...agents.map(({ id, name }) => ['Agent', `/agents/${id}`, name] as const),
  ];
  return (
    <Card title="Used by">
      {isBuiltin && <p class="muted">Every project and agent that has chosen no other template.</p>}
      {!isBuiltin && uses.length === 0 && (
        <p class="muted">
          No project or agent uses it. Projects choose a template on their settings page, agents on their own page. An
          unused template can be deleted.
        </p>
      )}
      <ul class="rows">
        {uses.map(([kind, address, name]) => (
          <li key={address} class="next-row">
            <a class="row-link grow" href={pageAt(address)}>
              {name}
            </a>
            <div class="when">{kind}</div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
