// Issues of the built-in tracker: the work of missions in projects without a tracker of their own.

import { issues, issue as oneIssue } from '../generated/documents.ts';
import { Copy, CopyAs } from '../kit/copy-as.tsx';
import { OrderFilter, ProjectFilter, useOrder } from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, ListView, Pill, Skeleton, Trouble } from '../kit/pieces.tsx';
import { useBeat, useFilter, useFresh, useList } from '../kit/reading.ts';
import { Time, When } from '../kit/words.tsx';

export function Issues() {
  const [projectId] = useFilter('projectId');
  const order = useOrder();
  const list = useList(
    issues,
    { limit: 30, projectId, order },
    (data) => data.issues,
    (one) => one.id,
  );
  useBeat(list.read);
  const filters = { ...(projectId && { projectId }), ...(order && { order }) };
  const words = Object.entries(filters).map(
    ([name, value]) => `, ${name}: ${name === 'order' ? value : JSON.stringify(value)}`,
  );
  return (
    <>
      <Heading title="Issues">
        <CopyAs
          graphql={`{ issues(limit: 30${words.join('')}) { data { id key title state } nextCursor } }`}
          client={`client.issues(${words.length > 0 ? JSON.stringify(filters) : ''})`}
        />
      </Heading>
      <div class="filters">
        <ProjectFilter />
        <OrderFilter />
      </div>
      <Card title="Built-in tracker">
        <ListView
          list={list}
          skeleton={<Skeleton rows={8} height={54} />}
          empty={
            projectId ? (
              <p>This project has no issues here.</p>
            ) : (
              <p>
                No issues yet. Each mission of a project without a tracker of its own creates an issue when it starts.{' '}
                <a href={pageAt('/projects')}>Choose a project to start one</a>
              </p>
            )
          }
        >
          {(rows) => (
            <ul class="rows">
              {rows.map(({ id, key, title, state, createdAt, project }) => (
                <li key={id} class="next-row link-row">
                  <Pill status={state} />
                  <div class="grow">
                    <a class="row-link" href={pageAt(`/issues/${id}`)}>
                      {title}
                    </a>
                    <div class="muted small clip">{[key, project?.name].filter(Boolean).join(' · ')}</div>
                  </div>
                  <When at={createdAt} />
                </li>
              ))}
            </ul>
          )}
        </ListView>
      </Card>
    </>
  );
}

export function Issue({ id: issueId }: { id: string }) {
  const { data, problem, read } = useFresh(oneIssue, { issueId });
  const issue = data?.issue;
  return (
    <>
      <Heading title={issue?.title ?? null} above={[[pageAt('/issues'), 'Issues']]}>
        <Copy text={issueId} label="Copy id" describes="Copy id of the issue" />
        <CopyAs
          graphql={`{ issue(issueId: "${issueId}") { key title state body labels runId } }`}
          client={`client.issue({ issueId: '${issueId}' })`}
        />
      </Heading>
      {problem && <Trouble problem={problem} retry={read} />}
      {!issue && !problem && <Skeleton rows={3} height={96} />}
      {issue && (
        <div class="stack">
          <Card title="Issue" aside={<Pill status={issue.state} />}>
            <dl class="facts">
              <dt>Key</dt>
              <dd>{issue.key}</dd>
              <dt>Project</dt>
              <dd>
                <a href={pageAt(`/projects/${issue.projectId}`)}>{issue.project?.name ?? issue.projectId}</a>
              </dd>
              {issue.runId && (
                <>
                  <dt>Mission</dt>
                  <dd>
                    <a href={pageAt(`/runs/${issue.runId}`)}>Open mission</a>
                  </dd>
                </>
              )}
              <dt>Created</dt>
              <dd>
                <Time at={issue.createdAt} />
              </dd>
              {issue.labels.length > 0 && (
                <>
                  <dt>Labels</dt>
                  <dd class="tags">
                    {issue.labels.map((label) => (
                      <span key={label} class="tag">
                        {label}
                      </span>
                    ))}
                  </dd>
                </>
              )}
            </dl>
          </Card>
          <Card title="Description">
            <p class="message">{issue.body}</p>
          </Card>
        </div>
      )}
    </>
  );
}
