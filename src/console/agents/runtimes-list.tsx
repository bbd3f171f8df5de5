// The organization's runtimes: the harnesses of each, and when it last reported.
import type { ComponentChildren } from 'preact';
import { drainRuntime, type RuntimesQuery } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { listFrom, type Reading } from '../kit/reading.ts';
import { plural, Time, When } from '../kit/words.tsx';

export type Runtime = RuntimesQuery['runtimes']['data'][number];

interface Properties {
  reading: Reading<RuntimesQuery>;
  /** Content below the list. */
  children?: ComponentChildren;
}

export function ConnectedRuntimes({ reading, children }: Properties) {
  const connected = reading.data?.runtimes.data.filter(({ isConnected }) => isConnected);
  return (
    <Card title="Runtimes" aside={connected && `${connected.length} connected`}>
      <RowList
        list={listFrom(reading, (data) => data.runtimes.data)}
        skeleton={<Skeleton rows={2} height={64} />}
        empty={<p>No runtime has connected in the last 24 hours. Missions wait for one.</p>}
      >
        {(runtime) => <RuntimeRow key={`${runtime.tokenId} ${runtime.name}`} runtime={runtime} read={reading.read} />}
      </RowList>
      {children && <p>{children}</p>}
    </Card>
  );
}

/**
 * How many missions a runtime can execute at once, and how many it executes, as text. On a shared runtime, only the missions of this
 * organization are counted.
 */
const placesOf = (places: number, used: number, isOwn: boolean): string =>
  isOwn ? `${used} of ${plural(places, 'place')} used` : `${plural(places, 'place')}, ${used} used by you`;

const RuntimeRow = ({
  runtime: {
    name,
    tokenId,
    isConnected,
    isDraining,
    harnesses,
    isolation,
    places,
    usedPlaces,
    waitingRuns,
    oldestWaitingAt,
    labels,
    notice,
    lastSeenAt,
  },
  read,
}: {
  runtime: Runtime;
  read(): void;
}) => (
  <li class="next-row link-row">
    <Pill status={!isConnected ? 'disconnected' : isDraining ? 'draining' : 'connected'} />
    <div class="grow">
      <strong class="break">{name}</strong>
      <div class="muted small">
        {places !== null && `${placesOf(places, usedPlaces, tokenId !== null)} · `}
        {harnesses.map(({ harness, version }) => (version ? `${harness} ${version}` : harness)).join(', ')}
        {isolation && ` · isolation: ${isolation}`}
      </div>
      {oldestWaitingAt !== null && (
        <div class="small">
          {waitingRuns === 1 ? '1 mission waits' : `${waitingRuns} missions wait`} · oldest:{' '}
          <Time at={oldestWaitingAt} />
        </div>
      )}
      {labels.length > 0 && <div class="small break">Labels: {labels.join(', ')}</div>}
      {notice && <div class="small break">{notice}</div>}
    </div>
    {tokenId !== null && isConnected && may('integrations:write') && (
      <Action
        label={isDraining ? 'Resume' : 'Drain'}
        describes={`${isDraining ? 'Resume' : 'Drain'} the runtime ${name}`}
        act={(key) => mutate(drainRuntime, { tokenId, name, isDraining: !isDraining }, key).then(read)}
      />
    )}
    <When at={lastSeenAt} />
  </li>
);

/** Missions that wait for a runtime, grouped by the reason for the wait. */
export const WaitingMissions = ({ waiting }: { waiting: RuntimesQuery['runtimes']['waiting'] }) => (
  <Card title="Waiting missions" aside={`${waiting.reduce((sum, { runs }) => sum + runs, 0)}`}>
    <ul class="rows">
      {waiting.map(({ reason, labels, runs, oldestWaitingAt, oldestRunId }) => (
        <li key={oldestRunId} class="next-row">
          <div class="grow">
            <a class="break" href={pageAt(`/runs/${oldestRunId}`)}>
              {reason ?? 'The reason is not known yet.'}
            </a>
            <div class="muted small break">
              {plural(runs, 'mission')}
              {labels.length > 0 && ` · labels: ${labels.join(', ')}`}
            </div>
          </div>
          <When at={oldestWaitingAt} />
        </li>
      ))}
    </ul>
  </Card>
);
