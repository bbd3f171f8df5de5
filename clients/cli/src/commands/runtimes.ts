// Runtimes of the organization. Uses GraphQL, because REST has no runtimes.
import { printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

interface Runtime {
  name: string;
  isConnected: boolean;
  isDraining: boolean;
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
  data { name isConnected isDraining harnesses { harness version } labels isolation places usedPlaces freePlaces waitingRuns oldestWaitingAt
    notice lastSeenAt }
  waiting { reason labels runs oldestWaitingAt oldestRunId } } }`;

export async function list(options: CommonOptions): Promise<void> {
  const client = await openClient(options.url);
  const { runtimes } = await client.graphql<{ runtimes: { data: Runtime[]; waiting: Waiting[] } }>(query);
  if (options.json) return printJson(runtimes);
  printTable(runtimes.data, {
    name: ({ name }) => name,
    state: ({ isConnected, isDraining }) => (!isConnected ? 'disconnected' : isDraining ? 'draining' : 'connected'),
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

const drainMutation = `mutation ($tokenId: String!, $name: String!, $isDraining: Boolean!) {
  drainRuntime(runtimeTokenId: $tokenId, name: $name, isDraining: $isDraining) { id name draining } }`;

async function setDraining(options: CommonOptions, name: string, isDraining: boolean): Promise<void> {
  const client = await openClient(options.url);
  const { runtimes } = await client.graphql<{ runtimes: { data: { name: string; tokenId: string | null }[] } }>(
    '{ runtimes { data { name tokenId } } }',
  );
  const found = runtimes.data.filter((one) => one.name === name);
  if (found.length === 0) throw new UserError(`There is no runtime ${name}. "aep runtimes" shows names.`);
  const tokenId = found.find((one) => one.tokenId !== null)?.tokenId;
  if (!tokenId) throw new UserError(`The runtime ${name} serves all organizations: only its operator can drain it.`);
  const { drainRuntime } = await client.graphql<{ drainRuntime: object }>(drainMutation, { tokenId, name, isDraining });
  if (options.json) return printJson(drainRuntime);
  printLine(
    isDraining ? `${name} takes no new missions, and shuts down once it has none.` : `${name} takes missions again.`,
  );
}

export const drain = (options: CommonOptions, name: string): Promise<void> => setDraining(options, name, true);
export const resume = (options: CommonOptions, name: string): Promise<void> => setDraining(options, name, false);
