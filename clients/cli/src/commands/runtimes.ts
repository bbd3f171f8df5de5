// Runtimes of the organization. REST has none, so the graph is asked.
import { printJson, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

interface Runtime {
  name: string;
  isConnected: boolean;
  harnesses: { harness: string }[];
  labels: string[];
  places: number | null;
  lastSeenAt: number;
}

export async function list(options: CommonOptions): Promise<void> {
  const { runtimes } = await (await openClient(options.url)).graphql<{ runtimes: { data: Runtime[] } }>(
    '{ runtimes { data { name isConnected harnesses { harness version } labels isolation places notice lastSeenAt } } }',
  );
  if (options.json) return printJson(runtimes.data);
  printTable(runtimes.data, {
    name: ({ name }) => name,
    state: ({ isConnected }) => (isConnected ? 'connected' : 'gone'),
    harnesses: ({ harnesses }) => harnesses.map(({ harness }) => harness).join(', '),
    labels: ({ labels }) => labels.join(', '),
    places: ({ places }) => (places === null ? '' : String(places)),
    seen: ({ lastSeenAt }) => timeOf(lastSeenAt),
  });
}
