// The form that starts a mission: its project, prompt and limits.
import { useLocation } from 'preact-iso';
import { type ProjectsQuery, projects, startMission } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { AttemptFields, attemptsArgument, oneAttempt } from './attempt-fields.tsx';
import { InstanceTypeChoice } from './instance-type.tsx';
import { limitsOf, MissionLimits, noLimits } from './mission-limits.tsx';
import { hasModel, TaskFields, useAgents } from './mission-task.tsx';

export function NewMission() {
  const { data, problem, read } = useReading(projects, { limit: 100 });
  const known = data?.projects.data.filter(({ status }) => status === 'active');
  return (
    <>
      <Heading title="Start a mission" above={[[pageAt('/runs'), 'Missions']]} />
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!known && !problem && <Skeleton rows={4} height={72} />}
      {known?.length === 0 && (
        <Card title="Create a project first">
          <p>A mission works in a project, which connects a repository. No project is active yet.</p>
          <a class="button" href={pageAt('/projects')}>
            Open projects
          </a>
        </Card>
      )}
      {known && known.length > 0 && <Mission projects={known} />}
    </>
  );
}

function Mission({ projects: known }: { projects: ProjectsQuery['projects']['data'] }) {
  const { query, route } = useLocation();
  const form = useForm({
    name: 'mission',
    initial: {
      projectId: query.projectId ?? known[0]!.id,
      prompt: '',
      agentId: '',
      budgetUsd: '',
      planApproval: '',
      instanceType: '',
      issue: '',
      ...noLimits,
      ...oneAttempt,
    },
    async send(values, key) {
      const { projectId, prompt, agentId, budgetUsd, planApproval, instanceType, issue, count, attempts, ...limits } =
        values;
      const variables = {
        projectId,
        prompt,
        ...(agentId && { agentId }),
        ...(budgetUsd && { budgetUsd: Number(budgetUsd) }),
        ...(planApproval && { planApproval: planApproval === 'yes' }),
        ...(instanceType && { instanceType }),
        ...(optional(issue) && { issue: optional(issue) }),
        ...limitsOf(limits),
        ...attemptsArgument({ count, attempts }),
      };
      const { startMission: run } = await mutate(startMission, variables, key);
      route(pageAt(run.attemptGroup ? `/attempts/${run.attemptGroup.id}` : `/runs/${run.id}`));
    },
  });
  const agents = useAgents();
  const { projectId, agentId } = form.values;
  const isWithoutHost = known.find(({ id }) => id === projectId)?.missingConnectorKinds?.includes('scm');
  const isScript = agents?.find(({ id }) => id === agentId)?.harness === 'shell';
  return (
    <Card title="Mission">
      <FormFrame form={form} action="Start mission" isOff={!hasModel(agents, agentId)} cancel={pageAt('/runs')}>
        <Choice
          form={form}
          name="projectId"
          label="Project"
          options={known.map(({ id, name }) => [id, name] as const)}
        />
        {isWithoutHost && !isScript && <NoSourceHost />}
        <TaskFields
          form={form}
          agents={agents}
          hint="The task for the agent, in your words. Its first line becomes the title."
        />
        {!isScript && <AttemptFields form={form} agents={agents} />}
        <Choice form={form} name="planApproval" label="Plan" options={planApprovals} />
        <Text form={form} name="budgetUsd" label="Budget in US dollars" type="number" step="0.01">
          The mission waits for you before a model call or a minute of work that would exceed the budget. Without a
          budget, the plan’s limit and the credits apply.
        </Text>
        <InstanceTypeChoice form={form} name="instanceType" label="Instance type" none="From the sandbox template" />
        <MissionLimits form={form} />
        <Text form={form} name="issue" label="Issue">
          An issue of the project’s tracker, such as WEB-12 or #12. Without one, an issue is created.
        </Text>
      </FormFrame>
    </Card>
  );
}

const planApprovals = [
  ['', 'Organization default'],
  ['yes', 'Wait until a person has approved it'],
  ['no', 'Continue without approval'],
] as const;

const NoSourceHost = () => (
  <div class="note row" role="status">
    <div>
      <strong>No source host is connected to this project</strong>
      <div>An agent gets an empty folder in place of the repository, and its changes are not pushed.</div>
    </div>
    {may('integrations:write') && (
      <a class="button quiet slim" href={pageAt('/integrations?connect=repository')}>
        Connect a repository
      </a>
    )}
  </div>
);
