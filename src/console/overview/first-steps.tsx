// Empty state: buttons and commands for the first project, mission and task.
import { projects } from '../generated/documents.ts';
import { api, may, pageAt } from '../kit/page.ts';
import { Commands, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

/** Buttons and commands for an organization in which no mission has run. */
export function FirstSteps() {
  const { data, problem, read } = useReading(projects, { limit: 1 });
  const project = data?.projects.data[0];
  if (!data) return problem ? <ErrorNote problem={problem} retry={read} /> : <Skeleton rows={3} />;
  return (
    <>
      <p>No missions yet. A mission is one piece of work that an agent does in a project.</p>
      {project ? (
        <>
          {may('missions:run') && (
            <p>
              <a class="button slim" href={pageAt(`/runs/new?projectId=${project.id}`)}>
                Start mission
              </a>
            </p>
          )}
          <p>Or schedule a first task, with a token that can write scheduled tasks:</p>
          <Commands>{taskCommand(project.id)}</Commands>
        </>
      ) : (
        <>
          <p>Create a project first: it connects a repository with its issues and missions.</p>
          {may('projects:write') && (
            <p>
              <a class="button slim" href={pageAt('/projects/new')}>
                Create project
              </a>
            </p>
          )}
          <p>Or create it with a token that can write projects:</p>
          <Commands>
            {`curl ${api}/projects -H "Authorization: Bearer $TOKEN" \\
  --json '{"name": "Web shop", "repoFullName": "owner/repository"}'`}
          </Commands>
        </>
      )}
      <p>
        <a href={pageAt('/tokens')}>Create a token</a>
      </p>
    </>
  );
}

export const taskCommand = (projectId: string): string =>
  `curl ${api}/scheduled-tasks -H "Authorization: Bearer $TOKEN" \\
  --json '{"projectId": "${projectId}", "name": "Weekly check",
    "prompt": "Look for outdated dependencies.",
    "triggers": [{"kind": "schedule", "schedule": {"interval": "weekly",
      "weekday": "monday", "time": "09:00", "timezone": "${Intl.DateTimeFormat().resolvedOptions().timeZone}"}}]}'`;
