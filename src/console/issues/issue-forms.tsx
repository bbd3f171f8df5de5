// Forms to create and change an issue of the built-in tracker.
import { useLocation } from 'preact-iso';
import {
  createIssue,
  type IssueQuery,
  issue as oneIssue,
  paletteMembers,
  projects,
  updateIssue,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { org, pageAt } from '../kit/page.ts';
import { Card, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { useAgents } from '../missions/mission-task.tsx';

/** Agents and members as options; the empty value means nobody. */
export function useAssignees(): (readonly [value: string, words: string])[] {
  const agents = useAgents()?.filter(({ harness }) => harness !== 'shell') ?? [];
  const members = useReading(paletteMembers, { orgId: org }).data?.memberships.memberships ?? [];
  return [
    ['', 'Nobody'],
    ...agents.map(({ id, name, hasModel }) => [id, `${name} (agent${hasModel ? '' : ', no model'})`] as const),
    ...members.map(({ userId, person }) => [userId, person?.name ?? userId] as const),
  ];
}

export function NewIssue() {
  const { query, route } = useLocation();
  const { data, problem, read } = useReading(projects, { limit: 100 });
  const known = data?.projects.data.filter(({ tracker }) => tracker === 'builtin');
  return (
    <>
      <Heading title="New issue" above={[[pageAt('/issues'), 'Issues']]} />
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!known && !problem && <Skeleton rows={4} height={72} />}
      {known?.length === 0 && (
        <Card title="No project uses the built-in tracker">
          <p>Issues of a project with another tracker are created in that tracker.</p>
          <a class="button" href={pageAt('/projects')}>
            Open projects
          </a>
        </Card>
      )}
      {known?.[0] && (
        <IssueOf
          projects={known.map(({ id, name }) => [id, name] as const)}
          projectId={query.projectId ?? known[0].id}
          done={(id) => route(pageAt(`/issues/${id}`))}
        />
      )}
    </>
  );
}

interface NewProperties {
  projects: readonly (readonly [id: string, name: string])[];
  projectId: string;
  done(id: string): void;
}

function IssueOf({ projects: known, projectId: first, done }: NewProperties) {
  const form = useForm({
    name: 'issue',
    initial: { projectId: first, assigneeId: '', ...empty },
    async send({ projectId, assigneeId, ...texts }, key) {
      const input = { projectId, ...valuesOf(texts), ...(assigneeId && { assigneeId }) };
      done((await mutate(createIssue, { input }, key)).createIssue.id);
    },
  });
  return (
    <Card title="Issue">
      <FormFrame form={form} action="Create issue" cancel={pageAt('/issues')}>
        <Choice form={form} name="projectId" label="Project" options={known} />
        <Texts form={form} />
        <Choice form={form} name="assigneeId" label="Assignee" options={useAssignees()}>
          Assigning an agent starts a mission at once, billed to you.
        </Choice>
      </FormFrame>
    </Card>
  );
}

const empty = { title: '', body: '', labels: '' };
type Values = typeof empty;

const labelsOf = (words: string): string[] => words.split(',').flatMap((word) => word.trim() || []);
const valuesOf = ({ title, body, labels }: Values) => ({ title: title.trim(), body, labels: labelsOf(labels) });

const Texts = <V extends Values>({ form }: { form: Form<V> }) => (
  <>
    <Text form={form} name="title" label="Title" maxLength={200} required />
    <Text form={form} name="body" label="Description" rows={8} maxLength={20_000}>
      Agents get this text as quoted information about the task.
    </Text>
    <Text form={form} name="labels" label="Labels">
      Separated by commas. Event rules can start a mission when a label is added.
    </Text>
  </>
);

type Issue = NonNullable<IssueQuery['issue']>;

const shownOf = ({ title, body, labels }: Issue): Values => ({ title, body, labels: labels.join(', ') });

export function EditIssue({ issue, done, cancel }: { issue: Issue; done(): void; cancel(): void }) {
  const { id: issueId } = issue;
  const form = useForm<Values>({
    name: `issue ${issueId}`,
    prefix: 'edit-',
    initial: shownOf(issue),
    async current() {
      const { issue: now } = await ask(oneIssue, { issueId });
      return [shownOf(now), now.updatedAt];
    },
    async send(values, key, ifUpdatedAt) {
      await mutate(updateIssue, { issueId, input: valuesOf(values), ifUpdatedAt }, key);
      done();
    },
  });
  return (
    <FormFrame
      form={form}
      action="Save"
      close={cancel}
      labels={{ title: 'Title', body: 'Description', labels: 'Labels' }}
    >
      <Texts form={form} />
    </FormFrame>
  );
}
