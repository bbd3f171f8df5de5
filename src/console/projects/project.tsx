// One project: recurring missions, recent missions, sandboxes, preview environments and artifacts.
import { ArtifactGrid } from '../artifacts/artifacts.tsx';
import { HistoryLink } from '../audit/history-link.tsx';
import {
  artifacts,
  busySandboxes,
  destroyEnvironment,
  environments,
  project as oneProject,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView, RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Commands, ErrorNote, Pill, Skeleton } from '../kit/pieces.tsx';
import { listFrom, useList, usePolledReading, useReading, useRefresh } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { RunList, useRuns } from '../missions/runs.tsx';
import { taskCommand } from '../overview/first-steps.tsx';
import { Recurring } from '../recurring/recurring.tsx';
import { kinds } from '../recurring/recurring-kinds.ts';
import { SandboxRows } from '../sandboxes/sandboxes.tsx';
import { PullRequestLoop } from './pull-request-loop.tsx';
import { Team } from './team.tsx';

export const Project = ({ id: projectId }: { id: string }) => (
  <>
    <About projectId={projectId} />
    <div class="columns">
      <div class="column">
        <Recurring
          kind={kinds.tasks}
          projectId={projectId}
          empty={
            <>
              <p>No task is scheduled here. With a token that can write scheduled tasks:</p>
              <Commands>{taskCommand(projectId)}</Commands>
              <p>
                <a href={pageAt('/tokens')}>Create a token</a>
              </p>
            </>
          }
        />
        <Recurring kind={kinds.automations} projectId={projectId} empty={<p>There are no automations here.</p>} />
        <RecentRuns projectId={projectId} />
      </div>
      <div class="column">
        <Team projectId={projectId} />
        <PullRequestLoop projectId={projectId} />
        <Sandboxes projectId={projectId} />
        <Environments projectId={projectId} />
        <Artifacts projectId={projectId} />
      </div>
    </div>
  </>
);

interface OfProject {
  projectId: string;
}

function About({ projectId }: OfProject) {
  const { data, problem, read } = useReading(oneProject, { projectId });
  const heading = (
    <Heading title={data?.project.name ?? null} above={[[pageAt('/projects'), 'Projects']]}>
      <CopyAs
        path={`/projects/${projectId}`}
        graphql={`{ project(projectId: "${projectId}") { id name status } }`}
        client={`client.project({ projectId: '${projectId}' })`}
        cli={`aep projects show ${projectId}`}
      />
      <HistoryLink of="projectId" id={projectId} />
      {may('missions:run') && data?.project.status === 'active' && (
        <a class="button slim" href={pageAt(`/runs/new?projectId=${projectId}`)}>
          Start mission
        </a>
      )}
    </Heading>
  );
  if (!data) {
    return (
      <>
        {heading}
        {problem ? <ErrorNote problem={problem} retry={read} /> : <p class="about muted">…</p>}
      </>
    );
  }
  const { scmOwner, scmRepo, status, tracker, issueCode, defaultSandboxTemplate: template } = data.project;
  return (
    <>
      {heading}
      <p class="about muted">
        <Pill status={status} /> <code>{`${scmOwner}/${scmRepo}`}</code> · issues in{' '}
        {tracker === 'builtin' ? 'the console' : tracker}
        {issueCode && ` as ${issueCode}`} · <a href={pageAt(`/projects/${projectId}/mcp`)}>MCP servers</a>
        {template && (
          <>
            {' '}
            · sandbox template <a href={pageAt(`/templates/${template.id}`)}>{template.name}</a>
          </>
        )}
        {may('projects:write') && (
          <>
            {' '}
            · <a href={pageAt(`/projects/${projectId}/settings`)}>Settings</a>
          </>
        )}
      </p>
    </>
  );
}

function RecentRuns({ projectId }: OfProject) {
  const list = useRuns({ projectId, limit: 10 });
  return (
    <Card title="Recent missions" aside={<a href={pageAt(`/runs?projectId=${projectId}`)}>All missions</a>}>
      <RunList list={list} isExcerpt within rows={4} empty={<p>No mission yet. “Run now” starts the first one.</p>} />
    </Card>
  );
}

function Sandboxes({ projectId }: OfProject) {
  const list = listFrom(usePolledReading(busySandboxes, { projectId, limit: 5 }), (data) => data.sandboxes.data);
  return (
    <Card title="Sandboxes">
      <ListView
        list={list}
        skeleton={<Skeleton rows={2} height={74} />}
        empty={<p>No sandboxes yet. Each mission gets its own.</p>}
      >
        {(rows) => <SandboxRows rows={rows.map(({ project: _, ...row }) => row)} />}
      </ListView>
    </Card>
  );
}

/** The URL of a preview environment, which a runtime reports as host and port, or as the whole URL. */
const previewOf = (name: string): string => (/^https?:/.test(name) ? name : `http://${name}/`);

function Environments({ projectId }: OfProject) {
  const list = useList(
    environments,
    { projectId, limit: 5 },
    (data) => data.environments,
    (one) => one.environmentId,
  );
  useRefresh(list.read);
  return (
    <Card title="Preview environments">
      <RowList
        list={list}
        skeleton={<Skeleton rows={2} />}
        empty={<p>A mission creates a preview environment when it has a change to show.</p>}
      >
        {({ environmentId, status, prNumber, workerName, createdAt, destroyedAt, expiresAt }) => (
          <li key={environmentId} class="next-row">
            <Pill status={status} />
            <div class="grow clip">
              {status === 'active' && workerName ? (
                <a href={previewOf(workerName)}>Open preview</a>
              ) : (
                (workerName ?? 'Preview')
              )}
              {prNumber !== null && <span class="muted"> · #{prNumber}</span>}
            </div>
            {status === 'active' && may('environments:write') && (
              <Action
                label="Destroy"
                describes={`Destroy ${workerName ?? 'the preview'}`}
                class="danger slim"
                question="The preview environment is destroyed, and its address stops working."
                act={(key) => mutate(destroyEnvironment, { environmentId }, key).then(list.read)}
              />
            )}
            <div class="when muted small">
              {status === 'active' && expiresAt !== null ? (
                <>
                  until <Time at={expiresAt} />
                </>
              ) : (
                <Time at={destroyedAt ?? createdAt} />
              )}
            </div>
          </li>
        )}
      </RowList>
    </Card>
  );
}

function Artifacts({ projectId }: OfProject) {
  const list = useList(artifacts, { projectId, limit: 6 }, (data) => data.artifacts);
  useRefresh(list.read);
  return (
    <Card title="Artifacts" aside={<a href={pageAt(`/artifacts?projectId=${projectId}`)}>All artifacts</a>}>
      <ListView
        list={list}
        isExcerpt
        skeleton={<Skeleton rows={1} height={160} />}
        empty={<p>Screenshots, reports and videos that agents submit appear here.</p>}
      >
        {(rows) => <ArtifactGrid rows={rows.map(({ project: _, ...row }) => row)} small />}
      </ListView>
    </Card>
  );
}
