// All projects.

import { type ProjectStatus, projects } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { asOptions, FilterChoice, OrderFilter, SearchFilter, useOrder, useWord } from '../kit/filters.tsx';
import { CreateLink, Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useList } from '../kit/reading.ts';

const statuses: readonly ProjectStatus[] = ['active', 'paused', 'archived'];

export function Projects() {
  const [nameContains] = useFilter('name');
  const filters = { nameContains, status: useWord('status', statuses), order: useOrder() };
  // REST lists projects without these filters (docs/contract.md#projects).
  const filterArguments = Object.entries(filters).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${name === 'nameContains' ? JSON.stringify(value) : value}`],
  );
  const list = useList(projects, { limit: 30, ...filters }, (data) => data.projects);
  return (
    <>
      <Heading title="Projects">
        <CopyAs
          path="/projects"
          graphql={`{ projects${filterArguments.length > 0 ? `(${filterArguments.join(', ')})` : ''} { data { id name status } nextCursor } }`}
          client="client.projects()"
          cli="aep projects list"
        />
        <CreateLink scope="projects:write" path="/projects/new" label="Create project" />
      </Heading>
      <div class="filters">
        <SearchFilter name="name" label="Find by name" />
        <FilterChoice name="status" label="Status" options={asOptions(statuses)} />
        <OrderFilter />
      </div>
      <Card title="Projects">
        <RowList
          list={list}
          skeleton={<Skeleton rows={5} height={54} />}
          empty={
            <p>
              {nameContains || filters.status
                ? 'No projects match the filters.'
                : 'There is no project yet. A project connects a repository with its issues and missions.'}
            </p>
          }
        >
          {({ id, name, issueCode, scmOwner, scmRepo, status }) => (
            <li key={id} class="next-row">
              <div class="grow">
                <a class="row-link" href={pageAt(`/projects/${id}`)}>
                  {name}
                </a>
                <div class="muted small clip">
                  {scmOwner}/{scmRepo}
                  {issueCode && ` · ${issueCode}`}
                </div>
              </div>
              <Pill status={status} />
            </li>
          )}
        </RowList>
      </Card>
    </>
  );
}
