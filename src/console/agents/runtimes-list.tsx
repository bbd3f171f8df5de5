// The organization's runtimes: the harnesses of each, and when it last reported.
import type { ComponentChildren } from 'preact';
import type { RuntimesQuery } from '../generated/documents.ts';
import { Card, ListView, Pill, Skeleton } from '../kit/pieces.tsx';
import { listFrom, type Reading } from '../kit/reading.ts';
import { When } from '../kit/words.tsx';

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
      <ListView
        list={listFrom(reading, (data) => data.runtimes.data)}
        skeleton={<Skeleton rows={2} height={64} />}
        empty={<p>No runtime has connected in the last 24 hours. Missions wait for one.</p>}
      >
        {(rows) => (
          <ul class="rows">
            {rows.map((runtime) => (
              <RuntimeRow key={`${runtime.tokenId} ${runtime.name}`} runtime={runtime} />
            ))}
          </ul>
        )}
      </ListView>
      {children && <p>{children}</p>}
    </Card>
  );
}

const RuntimeRow = ({
  runtime: { name, isConnected, harnesses, isolation, places, labels, notice, lastSeenAt },
}: {
  runtime: Runtime;
}) => (
  <li class="next-row link-row">
    <Pill status={isConnected ? 'connected' : 'gone'} />
    <div class="grow">
      <strong class="break">{name}</strong>
      <div class="muted small">
        {harnesses.map(({ harness, version }) => (version ? `${harness} ${version}` : harness)).join(', ')}
        {isolation && ` · ${isolation}`}
        {places !== null && ` · at most ${places} at once`}
      </div>
      {labels.length > 0 && <div class="small break">{labels.join(', ')}</div>}
      {notice && <div class="small break">{notice}</div>}
    </div>
    <When at={lastSeenAt} />
  </li>
);
