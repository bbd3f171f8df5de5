// Outside effects of a run from the terminal: list the ones that wait or have waited, approve and reject.
import { printJson, printLine, printTable } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

export const decisions = ['approve', 'reject'] as const;

interface Effect {
  id: string;
  state: string;
  title: string;
  text: string;
  digest: string;
  error: string | null;
}

interface EffectsOptions extends CommonOptions {
  only?: string[];
}

type Client = Awaited<ReturnType<typeof openClient>>;

async function read(client: Client, runId: string): Promise<Effect[]> {
  const query = `query ($runId: String!) { outsideEffects(runId: $runId) { data {
    id kind state title text digest error resultUrl decidedBy } } }`;
  return (await client.graphql<{ outsideEffects: { data: Effect[] } }>(query, { runId })).outsideEffects.data;
}

const waits = ({ state }: Effect): boolean => state === 'staged' || state === 'failed';

/**
 * Approves or rejects outside effects of the run. If `decision` is absent, prints all effects, and the full text of each effect that still
 * waits for a decision.
 */
export async function effects(
  options: EffectsOptions,
  runId: string,
  decision?: (typeof decisions)[number],
): Promise<void> {
  const client = await openClient(options.url);
  const all = await read(client, runId);
  if (!decision) return show(options, all);
  const chosen = options.only ? all.filter(({ id }) => options.only!.includes(id)) : all.filter(waits);
  if (chosen.length === 0) throw new UserError(`${runId} has no outside effect that waits for approval.`);
  const query = `mutation ($runId: String!, $ids: [String!], $digests: [String!]) {
    ${decision}OutsideEffects(runId: $runId, effectIds: $ids, digests: $digests) { id } }`;
  await client.graphql(query, { runId, ids: chosen.map(({ id }) => id), digests: chosen.map(({ digest }) => digest) });
  if (options.json) return printJson(await read(client, runId));
  for (const { title } of chosen) printLine(`${decision === 'approve' ? 'Approved' : 'Rejected'}: ${title}`);
}

function show({ json }: EffectsOptions, all: readonly Effect[]): void {
  if (json) {
    printJson(all);
    return;
  }
  if (all.length === 0) {
    printLine('The run has no outside effects that need or needed approval.');
    return;
  }
  printTable(all, { effect: ({ id }) => id, state: ({ state }) => state, title: ({ title }) => title });
  for (const { title, text, error } of all.filter(waits)) {
    printLine(`\n# ${title}`);
    if (error) printLine(`Failed: ${error}`);
    if (text) printLine(text);
  }
}
