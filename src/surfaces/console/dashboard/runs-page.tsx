// All missions: found by what is in the address, canceled and run again several at once.
import { useState } from 'preact/hooks';
import { ask, mutate } from './client.ts';
import { CopyAs } from './copy-as.tsx';
import { cancelRun, run as oneRun, type RunKind, type RunStatus } from './documents.ts';
import { AgentFilter, FilterChoice, OrderFilter, ProjectFilter, useOrder, useWord } from './filters.tsx';
import { Heading } from './heading.tsx';
import { may, pageAt } from './page.ts';
import { Action, Card, ListView, Skeleton } from './pieces.tsx';
import { useFilter } from './reading.ts';
import { rerun } from './rerun.ts';
import { RunRows, useRuns } from './runs.tsx';
import { day, plural } from './words.tsx';

const statuses: readonly RunStatus[] = ['running', 'dispatching', 'completed', 'failed', 'skipped', 'canceled'];
const kinds: readonly RunKind[] = ['manual', 'scheduled'];

/** A day of the address as midnight in the zone of the browser. */
const startOf = (date: string | null): number | null => {
  const at = date ? new Date(`${date}T00:00`).getTime() : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

export function Runs() {
  const status = useWord('status', statuses);
  const [projectId] = useFilter('projectId');
  const [agentId] = useFilter('agentId');
  const order = useOrder();
  const [from, setFrom] = useFilter('from');
  const [to, setTo] = useFilter('to');
  const last = startOf(to);
  const filters = {
    status,
    projectId,
    agentId,
    kind: useWord('kind', kinds),
    createdFrom: startOf(from),
    createdBefore: last === null ? null : last + day,
  };
  const list = useRuns({ limit: 30, ...filters, order });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const isNarrowed = Object.values(filters).some((value) => value !== null);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, order })) if (value !== null) query.set(name, String(value));
  const select = (id: string, isSelected: boolean) => {
    const next = new Set(selected);
    if (isSelected) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  return (
    <>
      <Heading title="Missions">
        <CopyAs
          path={`/runs${query.size > 0 ? `?${query}` : ''}`}
          client={`client.runs(${JSON.stringify(Object.fromEntries(query))})`}
          cli={`aep runs${status ? ` --status ${status}` : ''}${projectId ? ` --project ${projectId}` : ''}`}
          graphql="{ runs(limit: 30) { data { id status missionTitle } nextCursor } }"
        />
        {may('missions:run') && (
          <a class="button slim" href={pageAt('/runs/new')}>
            Start mission
          </a>
        )}
      </Heading>
      <div class="filters">
        <ProjectFilter />
        <FilterChoice
          name="status"
          label="Status"
          options={statuses.map((one) => [one, one === 'dispatching' ? 'waiting' : one] as const)}
        />
        {may('agents:read') && <AgentFilter />}
        <FilterChoice
          name="kind"
          label="Started"
          any="In any way"
          options={[
            ['manual', 'By hand'],
            ['scheduled', 'By schedule'],
          ]}
        />
        <label>
          From
          <input type="date" value={from ?? ''} onChange={(event) => setFrom(event.currentTarget.value)} />
        </label>
        <label>
          To
          <input type="date" value={to ?? ''} onChange={(event) => setTo(event.currentTarget.value)} />
        </label>
        <OrderFilter />
      </div>
      <Card
        title="Missions"
        aside={selected.size > 0 && <Bulk selected={selected} clear={() => setSelected(new Set())} read={list.read} />}
      >
        <ListView
          list={list}
          skeleton={<Skeleton rows={12} height={54} />}
          empty={<p>{isNarrowed ? 'No run is like that.' : 'Nothing has run yet.'}</p>}
        >
          {(rows) => (
            <RunRows
              rows={rows}
              {...(may('missions:run') && { selection: { has: (id: string) => selected.has(id), select } })}
            />
          )}
        </ListView>
      </Card>
    </>
  );
}

interface BulkProperties {
  selected: ReadonlySet<string>;
  clear(): void;
  read(): void;
}

/** One after the other; what went through stays so when a later one fails. */
function Bulk({ selected, clear, read }: BulkProperties) {
  const each = async (act: (runId: string) => Promise<unknown>) => {
    try {
      for (const runId of selected) await act(runId);
      clear();
    } finally {
      read();
    }
  };
  return (
    <div class="decisions">
      <span role="status">{plural(selected.size, 'mission')} selected</span>
      <Action
        label="Run again"
        describes="Run again the selected missions"
        act={(key) => each(async (runId) => rerun((await ask(oneRun, { runId })).run, `${key} ${runId}`))}
      />
      <Action
        label="Cancel"
        describes="Cancel the selected missions"
        class="danger slim"
        question={`${plural(selected.size, 'mission')} and their sandboxes end at once; those that have ended stay as they are.`}
        act={(key) => each((runId) => mutate(cancelRun, { runId }, `${key} ${runId}`).catch(ignoreEnded))}
      />
      <button type="button" class="quiet slim" onClick={clear}>
        Clear
      </button>
    </div>
  );
}

/** A mission that has ended meanwhile cannot be canceled, and need not be. */
function ignoreEnded(error: unknown): void {
  const { problem } = error as { problem?: { code?: string } };
  if (problem?.code !== 'conflict') throw error;
}
