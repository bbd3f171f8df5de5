// The page of an issue of the built-in tracker: its text, assignee, missions and comments.
import { HistoryLink } from '../audit/history-link.tsx';
import { assignIssue, type IssueQuery, issue as oneIssue, updateIssue } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Copy, CopyAs } from '../kit/copy-as.tsx';
import { Choice, FormFrame } from '../kit/fields.tsx';
import { useReplacedButton } from '../kit/focus.ts';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { Markdown } from '../kit/markdown.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Pill, Skeleton } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { IssueComments } from './issue-comments.tsx';
import { EditIssue, useAssignees } from './issue-forms.tsx';

type Issue = NonNullable<IssueQuery['issue']>;

export function Issue({ id: issueId }: { id: string }) {
  const { data, problem, read } = usePolledReading(oneIssue, { issueId });
  const issue = data?.issue;
  return (
    <>
      <Heading title={issue?.title ?? null} above={[[pageAt('/issues'), 'Issues']]}>
        {issue && may('missions:run') && <Closing issue={issue} onChanged={read} />}
        <HistoryLink id={issueId} />
        <Copy text={issueId} label="Copy id" describes="Copy id of the issue" />
        <CopyAs
          graphql={`{ issue(issueId: "${issueId}") { key title state body labels assigneeName } }`}
          client={`client.issue({ issueId: '${issueId}' })`}
        />
      </Heading>
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!issue && !problem && <Skeleton rows={3} height={96} />}
      {issue && (
        <div class="stack">
          <Facts issue={issue} />
          <Description issue={issue} onChanged={read} />
          {may('missions:run') && issue.state === 'open' && (
            <Assignment key={assigneeOf(issue)} issue={issue} onChanged={read} />
          )}
          <Missions runs={issue.runs} />
          <IssueComments issueId={issueId} onSaid={read} />
        </div>
      )}
    </>
  );
}

const assigneeOf = ({ agentId, assigneeUserId }: Issue): string => agentId ?? assigneeUserId ?? '';
const isWorkedOn = ({ runs }: Issue): boolean =>
  runs.some(({ status }) => status === 'dispatching' || status === 'running');

function Closing({ issue, onChanged }: { issue: Issue; onChanged(): void }) {
  const isOpen = issue.state === 'open';
  const state = isOpen ? ('closed' as const) : ('open' as const);
  return (
    <Action
      label={isOpen ? 'Close issue' : 'Reopen issue'}
      {...(isOpen && isWorkedOn(issue) && { question: 'Its mission is canceled. Pushed commits stay.' })}
      act={async (key) => {
        await mutate(updateIssue, { issueId: issue.id, input: { state } }, key);
        onChanged();
      }}
    />
  );
}

function Facts({ issue }: { issue: Issue }) {
  const { key, projectId, project, assigneeName, createdAt, labels } = issue;
  return (
    <Card title="Issue" aside={<Pill status={issue.state} />}>
      <dl class="facts">
        <dt>Key</dt>
        <dd>{key}</dd>
        <dt>Project</dt>
        <dd>
          <a href={pageAt(`/projects/${projectId}`)}>{project?.name ?? projectId}</a>
        </dd>
        <dt>Assignee</dt>
        <dd>{assigneeOf(issue) === '' ? 'Nobody' : (assigneeName ?? assigneeOf(issue))}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        {labels.length > 0 && (
          <>
            <dt>Labels</dt>
            <dd class="tags">
              {labels.map((label) => (
                <span key={label} class="tag">
                  {label}
                </span>
              ))}
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}

function Description({ issue, onChanged }: { issue: Issue; onChanged(): void }) {
  const { isOpen: isEdited, setOpen: setEdited, button } = useReplacedButton();
  const edit = (
    <button ref={button} type="button" class="quiet slim" onClick={() => setEdited(true)}>
      Edit
    </button>
  );
  return (
    <Card title="Description" aside={may('missions:run') && !isEdited && edit}>
      {isEdited ? (
        <EditIssue
          issue={issue}
          done={() => {
            setEdited(false);
            onChanged();
          }}
          cancel={() => setEdited(false)}
        />
      ) : issue.body ? (
        <Markdown text={issue.body} />
      ) : (
        <Empty>No description.</Empty>
      )}
    </Card>
  );
}

function Assignment({ issue, onChanged }: { issue: Issue; onChanged(): void }) {
  const { id: issueId } = issue;
  const form = useForm({
    name: `assignee of ${issueId}`,
    initial: { assigneeId: assigneeOf(issue) },
    async current() {
      const { issue: now } = await ask(oneIssue, { issueId });
      return [{ assigneeId: assigneeOf(now) }, null] as const;
    },
    async send({ assigneeId }, key) {
      await mutate(assignIssue, { issueId, assigneeId: assigneeId || null }, key);
      onChanged();
    },
  });
  const { assigneeId } = form.values;
  const startsAgain = issue.agentId !== null && assigneeId === issue.agentId;
  return (
    <Card title="Assignment">
      <FormFrame
        form={form}
        action={startsAgain ? 'Start another mission' : 'Assign'}
        isOff={assigneeId === assigneeOf(issue) && (!startsAgain || isWorkedOn(issue))}
        labels={{ assigneeId: 'Assignee' }}
      >
        <Choice form={form} name="assigneeId" label="Assignee" options={useAssignees()}>
          Assigning an agent starts a mission at once, billed to you. Reassigning cancels the mission of the previous
          agent.
        </Choice>
      </FormFrame>
    </Card>
  );
}

const Missions = ({ runs }: Pick<Issue, 'runs'>) => (
  <Card title="Missions">
    {runs.length === 0 ? (
      <Empty>No mission has worked on the issue.</Empty>
    ) : (
      <ul class="rows">
        {runs.map(({ id, status, missionTitle, createdAt }) => (
          <li key={id} class="next-row link-row">
            <Pill status={status} />
            <div class="grow">
              <a class="row-link" href={pageAt(`/runs/${id}`)}>
                {missionTitle ?? 'Mission'}
              </a>
            </div>
            <div class="when">
              <Time at={createdAt} />
            </div>
          </li>
        ))}
      </ul>
    )}
  </Card>
);
