// All projects.

import { CopyAs } from './copy-as.tsx';
import { projects } from './documents.ts';
import { Heading } from './heading.tsx';
import { may } from './page.ts';
import { Card, Pill, Shown, Skeleton } from './pieces.tsx';
import { useList } from './reading.ts';

export function Projects() {
  const list = useList(
    projects,
    { limit: 30 },
    (data) => data.projects,
    (one) => one.id,
  );
  return (
    <>
      <Heading title="Projects">
        <CopyAs
          path="/projects"
          graphql="{ projects { data { id name status } nextCursor } }"
          client="client.projects()"
          cli="aep projects list"
        />
        {may('projects:write') && (
          <a class="button slim" href="/console/projects/new">
            Create project
          </a>
        )}
      </Heading>
      <Card title="All projects, newest first">
        <Shown
          list={list}
          skeleton={<Skeleton rows={5} height={54} />}
          empty={<p>There is no project yet. A project connects a repository with its issues and missions.</p>}
        >
          {(rows) => (
            <ul class="rows">
              {rows.map(({ id, name, issueCode, scmOwner, scmRepo, status }) => (
                <li key={id} class="next-row">
                  <div class="grow">
                    <a class="row-link" href={`/console/projects/${id}`}>
                      {name}
                    </a>
                    <div class="muted small clip">
                      {scmOwner}/{scmRepo}
                      {issueCode && ` · ${issueCode}`}
                    </div>
                  </div>
                  <Pill status={status} />
                </li>
              ))}
            </ul>
          )}
        </Shown>
      </Card>
    </>
  );
}
