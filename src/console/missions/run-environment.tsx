// The environment of a mission: its preparation, and the hosts that it tried to reach.
import { useEffect, useState } from 'preact/hooks';
import type { Operation, RunNetworkQuery, RunPreparationsQuery } from '../generated/documents.ts';
import { runPreparations } from '../generated/documents.ts';
import { AnsiText } from '../kit/ansi-text.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Pill } from '../kit/pieces.tsx';
import { type Reading, useReading, useRefresh } from '../kit/reading.ts';
import { ScrollBlock, ScrollTable, TableHead } from '../kit/scroll-block.tsx';
import { duration, Lasted, second, size } from '../kit/words.tsx';

/** The environment is read again at every refresh of the page while the mission is open, and once when it has ended. */
export function useWhileOpen<Data>(
  operation: Operation<Data, { runId: string }>,
  runId: string,
  isOpen: boolean,
): Reading<Data> {
  const reading = useReading(operation, { runId });
  useRefresh(() => isOpen && reading.read());
  useEffect(() => {
    if (!isOpen) reading.read();
  }, [isOpen]);
  return reading;
}

export function Preparations({ runId, isOpen }: { runId: string; isOpen: boolean }) {
  const { data } = useWhileOpen(runPreparations, runId, isOpen);
  const preparations = data?.runPreparations?.data ?? [];
  if (preparations.length === 0) return null;
  return (
    <Card title="Environment">
      <ul class="rows">
        {preparations.map((one) => (
          <PreparationRow key={one.id} preparation={one} />
        ))}
      </ul>
    </Card>
  );
}

function PreparationRow({ preparation }: { preparation: RunPreparationsQuery['runPreparations']['data'][number] }) {
  const { status, template, seconds, bytes, lastLines, notes, createdAt } = preparation;
  return (
    <li>
      <div class="row-top">
        <Pill status={status} />
        <div class="grow break">
          {template ? <a href={pageAt(`/templates/${template.id}`)}>{template.name}</a> : 'A deleted template'}
        </div>
        <div class="when">
          {status === 'preparing' ? (
            <Lasted from={createdAt} to={null} />
          ) : status === 'ready' && seconds === 0 ? (
            'reused'
          ) : (
            seconds !== null && `took ${duration(seconds * second)}`
          )}
        </div>
      </div>
      {status === 'ready' && bytes !== null && (
        <div class="muted small">{size(bytes)} of disk space on the runtime</div>
      )}
      {notes.map((note) => (
        <div key={note} class="muted small break">
          {note}
        </div>
      ))}
      {lastLines && (
        <details class="last-log" open={status === 'failed'}>
          <summary>{status === 'failed' ? 'Last lines of the failed setup' : 'Last lines of the setup'}</summary>
          <ScrollBlock class="result">
            <AnsiText text={lastLines} />
          </ScrollBlock>
        </details>
      )}
    </li>
  );
}

export type RequestedHost = RunNetworkQuery['runConnections']['data'][number];

/** Rows shown before “Show more”. */
const shownFirst = 10;

export function Network({ reading }: { reading: Reading<RunNetworkQuery> }) {
  const [isWhole, setWhole] = useState(false);
  const connections = reading.data?.runConnections?.data ?? [];
  if (connections.length === 0) return null;
  const hidden = isWhole ? 0 : Math.max(0, connections.length - shownFirst);
  return (
    <>
      <ScrollTable label="Connections">
        <table class="connections">
          <TableHead
            columns={[
              'Host',
              'Program',
              'Phase',
              'Verdict',
              { number: 'Count' },
              { number: 'Sent' },
              { number: 'Received' },
            ]}
          />
          <tbody>
            {connections.slice(0, connections.length - hidden).map((one) => (
              <ConnectionRow key={`${one.host} ${one.port} ${one.phase} ${one.verdict}`} connection={one} />
            ))}
          </tbody>
        </table>
      </ScrollTable>
      {connections.some(({ verdict }) => verdict === 'untrusted') && (
        <p class="muted small">
          Untrusted: the program rejected the runner’s certificate. The runner decrypts requests to this host to insert
          secrets, but the program ignores the environment variables that name the mission’s certificate authority.
        </p>
      )}
      {hidden > 0 && (
        <div class="more-row">
          <button type="button" class="quiet slim" onClick={() => setWhole(true)}>
            Show {hidden} more
          </button>
        </div>
      )}
    </>
  );
}

const ConnectionRow = ({
  connection: { host, port, phase, verdict, count, sentBytes, receivedBytes, programs },
}: {
  connection: RequestedHost;
}) => (
  <tr>
    <td>{host === '*' ? 'other hosts' : <code>{`${host}:${port}`}</code>}</td>
    <td>{programs.join(', ')}</td>
    <td>{phase}</td>
    <td>
      <Pill status={verdict.replaceAll('_', ' ')} />
    </td>
    <td class="number">{count}</td>
    <td class="number">{size(sentBytes)}</td>
    <td class="number">{size(receivedBytes)}</td>
  </tr>
);
