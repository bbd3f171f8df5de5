// The list of issues of the built-in tracker.

import { useState } from 'preact/hooks';
import { type IssueState, issues } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import {
  AgentFilter,
  asOptions,
  FilterChoice,
  OrderFilter,
  ProjectFilter,
  useOrder,
  useWord,
} from '../kit/filters.tsx';
import { CreateLink, Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useList, useRefresh } from '../kit/reading.ts';
import { SelectAll, useSelection } from '../kit/selection.tsx';
import { When } from '../kit/words.tsx';
import { StartMissions } from './start-missions.tsx';

const states: readonly IssueState[] = ['open', 'closed'];

export function Issues() {
  const [projectId] = useFilter('projectId');
  const [agentId] = useFilter('agentId');
  const state = useWord('state', states);
  const order = useOrder();
  const list = useList(issues, { limit: 30, projectId, agentId, state, order }, (data) => data.issues);
  useRefresh(list.read);
  const open = list.rows?.filter((one) => one.state === 'open') ?? [];
  const [isStarting, setStarting] = useState(false);
  const selection = useSelection(open.map(({ id }) => id));
  const filters = {
    ...(projectId && { projectId }),
    ...(agentId && { agentId }),
    ...(state && { state }),
    ...(order && { order }),
  };
  const words = Object.entries(filters).map(
    ([name, value]) => `, ${name}: ${name === 'order' || name === 'state' ? value : JSON.stringify(value)}`,
  );
  return (
    <>
      <Heading title="Issues">
        <CopyAs
          graphql={`{ issues(limit: 30${words.join('')}) { data { id key title state } nextCursor } }`}
          client={`client.issues(${words.length > 0 ? JSON.stringify(filters) : ''})`}
        />
        <CreateLink
          scope="missions:run"
          path={`/issues/new${projectId ? `?projectId=${projectId}` : ''}`}
          label="New issue"
        />
      </Heading>
      <div class="filters">
        <ProjectFilter />
        <AgentFilter />
        <FilterChoice name="state" label="State" options={asOptions(states)} />
        <OrderFilter />
      </div>
      {isStarting && (
        <StartMissions
          issues={open.filter(({ id }) => selection.has(id))}
          selection={selection}
          read={list.read}
          close={() => setStarting(false)}
        />
      )}
      <Card
        title="Built-in tracker"
        aside={
          may('missions:run') &&
          open.length > 0 && (
            <div class="row-top selecting">
              {selection.selected.length > 0 && !isStarting && (
                <button type="button" class="slim" onClick={() => setStarting(true)}>
                  Start missions
                </button>
              )}
              <SelectAll shown={open.length} selection={selection} />
            </div>
          )
        }
      >
        <RowList
          list={list}
          skeleton={<Skeleton rows={8} height={54} />}
          empty={
            words.length > 0 ? (
              <p>No issues match these filters.</p>
            ) : (
              <p>
                No issues yet. Create one and assign it to an agent. In projects without another tracker, each mission
                also creates an issue.
              </p>
            )
          }
        >
          {({ id, key, title, state, assigneeName, createdAt, project }) => (
            <li key={id} class="next-row link-row">
              {may('missions:run') && (
                <input
                  type="checkbox"
                  class="select-row"
                  aria-label={`Select ${title}`}
                  disabled={state !== 'open'}
                  checked={state === 'open' && selection.has(id)}
                  onClick={({ currentTarget, shiftKey }) => selection.select(id, currentTarget.checked, shiftKey)}
                />
              )}
              <Pill status={state} />
              <div class="grow">
                <a class="row-link" href={pageAt(`/issues/${id}`)}>
                  {title}
                </a>
                <div class="muted small clip">{[key, project?.name, assigneeName].filter(Boolean).join(' · ')}</div>
              </div>
              <When at={createdAt} />
            </li>
          )}
        </RowList>
      </Card>
    </>
  );
}
