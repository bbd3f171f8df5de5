// Runtimes of the organization. REST has none, so the graph is asked.
import { printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

interface Runtime {
  name: string;
  isConnected: boolean;
  harnesses: { harness: string }[];
  labels: string[];
  places: number | null;
  usedPlaces: number;
  waitingRuns: number;
  oldestWaitingAt: number | null;
  lastSeenAt: number;
}

interface Waiting {
  reason: string | null;
  labels: string[];
  runs: number;
  oldestWaitingAt: number;
}

const query = `{ runtimes {
  data { name isConnected harnesses { harness version } labels isolation places usedPlaces freePlaces waitingRuns oldestWaitingAt
    notice lastSeenAt }
  waiting { reason labels runs oldestWaitingAt oldestRunId } } }`;

export async function list(options: CommonOptions): Promise<void> {
  const client = await openClient(options.url);
  const { runtimes } = await client.graphql<{ runtimes: { data: Runtime[]; waiting: Waiting[] } }>(query);
  if (options.json) return printJson(runtimes);
  printTable(runtimes.data, {
    name: ({ name }) => name,
    state: ({ isConnected }) => (isConnected ? 'connected' : 'gone'),
    harnesses: ({ harnesses }) => harnesses.map(({ harness }) => harness).join(', '),
    labels: ({ labels }) => labels.join(', '),
    places: ({ places, usedPlaces }) => (places === null ? String(usedPlaces) : `${usedPlaces}/${places}`),
    waiting: ({ waitingRuns }) => String(waitingRuns),
    oldest: ({ oldestWaitingAt }) => (oldestWaitingAt === null ? '' : timeOf(oldestWaitingAt)),
    seen: ({ lastSeenAt }) => timeOf(lastSeenAt),
  });
  if (runtimes.waiting.length === 0) return;
  printLine('');
  printTable(runtimes.waiting, {
    waiting: ({ runs }) => String(runs),
    since: ({ oldestWaitingAt }) => timeOf(oldestWaitingAt),
    labels: ({ labels }) => labels.join(', '),
    because: ({ reason }) => reason ?? '',
  });
}
