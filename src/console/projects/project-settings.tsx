// Settings of a project: its name and repository, its status, and its deletion.
import { useLocation } from 'preact-iso';
import { EffectPolicy } from '../effects/project-policy.tsx';
import {
  deleteProject,
  type ProjectSettingsQuery,
  type ProjectStatus,
  projectSettings,
  updateProject,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Check, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Loaded, Pill } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { DeleteByName } from '../kit/typed-name.tsx';
import { SecretsCard } from '../secrets/secrets.tsx';
import { standard, TemplateChoice } from '../templates/template-choice.tsx';
import { Connectors } from './project-connectors.tsx';

type Settings = ProjectSettingsQuery['project'];

const valuesOf = ({ name, scmOwner, scmRepo, issueCode, ...settings }: Settings) => ({
  name,
  repoFullName: `${scmOwner}/${scmRepo}`,
  issueCode: issueCode ?? '',
  autoMerge: settings.autoMerge,
  defaultSandboxTemplateId: settings.defaultSandboxTemplateId ?? standard,
});

export function ProjectSettings({ id: projectId }: { id: string }) {
  const { data, problem, read } = useReading(projectSettings, { projectId });
  const project = data?.project;
  return (
    <>
      <Heading
        title="Project settings"
        above={[
          [pageAt('/projects'), 'Projects'],
          [pageAt(`/projects/${projectId}`), project?.name ?? '…'],
        ]}
      />
      <Loaded value={project} problem={problem} retry={read} rows={4} height={72}>
        {(project) => (
          <div class="stack">
            <Details project={project} read={read} />
            <EffectPolicy project={project} read={read} />
            {may('integrations:read') && <Connectors project={project} read={read} />}
            {may('secrets:read') && <SecretsCard place={{ scope: 'project', projectId }} />}
            <Status project={project} read={read} />
            <End project={project} />
          </div>
        )}
      </Loaded>
    </>
  );
}

interface Properties {
  project: Settings;
  read(): void;
}

function Details({ project, read }: Properties) {
  const { id: projectId } = project;
  const form = useForm({
    name: `project ${projectId}`,
    initial: valuesOf(project),
    current: async () => [valuesOf((await ask(projectSettings, { projectId })).project), null],
    async send({ issueCode, ...values }, key) {
      await mutate(updateProject, { projectId, input: { ...values, issueCode: optional(issueCode) } }, key);
      read();
    },
  });
  const labels = {
    name: 'Name',
    repoFullName: 'Repository',
    issueCode: 'Issue code',
    autoMerge: 'Merge approved changes',
    defaultSandboxTemplateId: 'Sandbox template',
  };
  return (
    <Card title="Details">
      <FormFrame form={form} action="Save" cancel={pageAt(`/projects/${projectId}`)} labels={labels}>
        <Text form={form} name="name" label="Name" maxLength={120} required />
        <Text form={form} name="repoFullName" label="Repository" required>
          The owner and the name, such as acme/shop.
        </Text>
        <Text form={form} name="issueCode" label="Issue code">
          2 to 10 capital letters or digits. Optional.
        </Text>
        <Check form={form} name="autoMerge" label="Merge approved changes">
          A pull request is merged automatically at the commit that a reviewer agent approved, once its checks pass.
        </Check>
        <TemplateChoice
          form={form}
          name="defaultSandboxTemplateId"
          label={labels.defaultSandboxTemplateId}
          standardWords="Standard"
        >
          The environment of this project’s missions. An agent’s own template takes precedence.
        </TemplateChoice>
      </FormFrame>
    </Card>
  );
}

const moves: Record<ProjectStatus, readonly (readonly [to: ProjectStatus, label: string])[]> = {
  active: [
    ['paused', 'Pause'],
    ['archived', 'Archive'],
  ],
  paused: [
    ['active', 'Resume'],
    ['archived', 'Archive'],
  ],
  archived: [['active', 'Restore']],
};

const Status = ({ project: { id: projectId, status }, read }: Properties) => (
  <Card title="Status" aside={<Pill status={status} />}>
    <p class="muted">Missions start only while the project is active. Running missions continue.</p>
    <div class="actions">
      {moves[status].map(([to, label]) => (
        <Action
          key={to}
          label={label}
          describes={`${label} project`}
          act={async (key) => {
            await mutate(updateProject, { projectId, input: { status: to } }, key);
            read();
          }}
        />
      ))}
    </div>
  </Card>
);

function End({ project: { id: projectId, name } }: { project: Settings }) {
  const { route } = useLocation();
  return (
    <Card title="Delete project">
      <p class="muted">
        The records of the project are deleted, and credentials that are bound to it are revoked. This cannot be undone.
      </p>
      <DeleteByName
        name={name}
        what="project"
        remove={async (key) => {
          await mutate(deleteProject, { projectId }, key);
          route(pageAt('/projects'));
        }}
      />
    </Card>
  );
}
