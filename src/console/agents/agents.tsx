// The organization's agents with the built-in ones, and the runtimes that run them.

import { shownModel } from '../../surfaces/console/models.ts';
import { type AgentRole, type AgentRowFragment, agents, runtimes } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { asOptions, FilterChoice, useWord } from '../kit/filters.tsx';
import { CreateLink, Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useList, usePolledReading } from '../kit/reading.ts';
import { ConnectedRuntimes, type Runtime } from './runtimes-list.tsx';

const roles: readonly AgentRole[] = ['planner', 'builder', 'reviewer', 'qa', 'researcher'];

export function Agents() {
  const role = useWord('role', roles);
  const list = useList(agents, { limit: 100, role }, (data) => data.agents);
  const reading = usePolledReading(runtimes, {});
  const connected = reading.data?.runtimes.data.filter(({ isConnected }) => isConnected);
  return (
    <>
      <Heading title="Agents">
        <CopyAs
          path={`/agents${role ? `?role=${role}` : ''}`}
          graphql="{ agents { data { id name role harness model } nextCursor } }"
          client={`client.agents(${role ? `{ role: '${role}' }` : ''})`}
        />
        <CreateLink scope="agents:write" path="/agents/new" label="Create agent" />
      </Heading>
      <div class="columns">
        <Card title="Agents">
          <div class="filters">
            <FilterChoice name="role" label="Role" options={asOptions(roles)} />
          </div>
          <RowList list={list} skeleton={<Skeleton rows={6} height={54} />} empty={<p>No agents match the filter.</p>}>
            {(agent) => <AgentRow key={agent.id} agent={agent} connected={connected} />}
          </RowList>
        </Card>
        <ConnectedRuntimes reading={reading}>
          <a href={pageAt('/runtimes')}>{may('integrations:write') ? 'Connect a runtime' : 'About runtimes'}</a>
        </ConnectedRuntimes>
      </div>
    </>
  );
}

function AgentRow({ agent, connected }: { agent: AgentRowFragment; connected: Runtime[] | undefined }) {
  const { id, name, role, harness, model, isBuiltin } = agent;
  return (
    <li class="next-row">
      <div class="grow">
        <a class="row-link" href={pageAt(`/agents/${id}`)}>
          {name}
        </a>{' '}
        {isBuiltin && <span class="tag">built-in</span>}
        <div class="muted small">
          {role} · {harness}
          {shownModel(model) && ` with ${model}`}
        </div>
      </div>
      <div class="when">{connected && runsOn(harness, connected)}</div>
    </li>
  );
}

/** Shows the connected runtimes that can run an agent with the harness. */
export function runsOn(harness: string, connected: readonly Runtime[]): string {
  const able = connected.filter(({ harnesses }) => harnesses.some((one) => one.harness === harness));
  if (able.length === 0) return 'no runtime';
  return able.length === 1 ? `runs on ${able[0]!.name}` : `${able.length} runtimes`;
}
