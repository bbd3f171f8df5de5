// The agents of the organization with the built-in ones, and the runtimes that run them.

import { CopyAs } from './copy-as.tsx';
import { type AgentRowFragment, agents, type RuntimesQuery, runtimes } from './documents.ts';
import { Heading } from './heading.tsx';
import { may } from './page.ts';
import { Card, Commands, Pill, Shown, Skeleton } from './pieces.tsx';
import { listIn, useFresh, useList } from './reading.ts';
import { Time } from './words.tsx';

type Runtime = RuntimesQuery['runtimes']['data'][number];

export function Agents() {
  const list = useList(
    agents,
    { limit: 100 },
    (data) => data.agents,
    (one) => one.id,
  );
  const reading = useFresh(runtimes, {});
  const connected = reading.data?.runtimes.data.filter(({ isConnected }) => isConnected);
  return (
    <>
      <Heading title="Agents">
        <CopyAs
          path="/agents"
          graphql="{ agents { data { id name role harness model } nextCursor } }"
          client="client.agents()"
        />
        {may('agents:write') && (
          <a class="button slim" href="/console/agents/new">
            Create agent
          </a>
        )}
      </Heading>
      <div class="columns">
        <Card title="Agents">
          <Shown list={list} skeleton={<Skeleton rows={6} height={54} />} empty={<p>There is no agent.</p>}>
            {(rows) => (
              <ul class="rows">
                {rows.map((agent) => (
                  <AgentRow key={agent.id} agent={agent} connected={connected} />
                ))}
              </ul>
            )}
          </Shown>
        </Card>
        <div class="column">
          <Card title="Runtimes" aside={connected && `${connected.length} connected`}>
            <Shown
              list={listIn(reading, (data) => data.runtimes.data)}
              skeleton={<Skeleton rows={2} height={64} />}
              empty={<p>No runtime was seen within a day. Missions wait until one is connected.</p>}
            >
              {(rows) => (
                <ul class="rows">
                  {rows.map((runtime) => (
                    <RuntimeRow key={runtime.name} runtime={runtime} />
                  ))}
                </ul>
              )}
            </Shown>
          </Card>
          <Card title="Connect a runtime">
            <p>
              A runtime takes missions and runs their agents on a machine of yours. The operator of this service creates
              its token; the runtime reads it from standard input:
            </p>
            <Commands>{`npm run --silent admin -- service-token:create --name "My runner" --org SLUG
PLATFORM_URL=${location.origin} node --import tsx src/runner/runner.ts`}</Commands>
          </Card>
        </div>
      </div>
    </>
  );
}

function AgentRow({ agent, connected }: { agent: AgentRowFragment; connected: Runtime[] | undefined }) {
  const { id, name, role, harness, model, isBuiltin } = agent;
  return (
    <li class="next-row">
      <div class="grow">
        <a class="row-link" href={`/console/agents/${id}`}>
          {name}
        </a>{' '}
        {isBuiltin && <span class="tag">built-in</span>}
        <div class="muted small">
          {role} · {harness}
          {harness !== 'shell' && ` with ${model}`}
        </div>
      </div>
      <div class="when">{connected && runsOn(harness, connected)}</div>
    </li>
  );
}

/** Which of the connected runtimes can run an agent with the harness. */
export function runsOn(harness: string, connected: readonly Runtime[]): string {
  const able = connected.filter(({ harnesses }) => harnesses.some((one) => one.harness === harness));
  if (able.length === 0) return 'no runtime';
  return able.length === 1 ? `runs on ${able[0]!.name}` : `${able.length} runtimes`;
}

const RuntimeRow = ({
  runtime: { name, isConnected, harnesses, isolation, places, lastSeenAt },
}: {
  runtime: Runtime;
}) => (
  <li class="next-row">
    <Pill status={isConnected ? 'connected' : 'gone'} />
    <div class="grow">
      <strong class="break">{name}</strong>
      <div class="muted small">
        {harnesses.map(({ harness, version }) => (version ? `${harness} ${version}` : harness)).join(', ')}
        {isolation && ` · ${isolation}`}
        {places !== null && ` · ${places} at once`}
      </div>
    </div>
    <div class="when">
      <Time at={lastSeenAt} />
    </div>
  </li>
);
