// Inbound hooks and the events that arrived: list, create, rename, disable, replace the secret, delete; process an
// event again, or approve the missions that it would start.
import type { Client, InboundDelivery, InboundHook, InboundHookWithSecret } from '../../../typescript/src/exports.ts';
import { paint, printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { readPrompt } from './runs.ts';

/** Finds a hook by id or name. @throws when there is none, or several */
async function findHook(client: Client, wanted: string): Promise<Pick<InboundHook, 'id' | 'name'>> {
  if (wanted.startsWith('hok_')) return client.inboundHook({ hookId: wanted });
  const found: InboundHook[] = [];
  for await (const hook of client.inboundHooks({ limit: 100 })) if (hook.name === wanted) found.push(hook);
  if (found.length === 1) return found[0]!;
  const reason = found.length === 0 ? 'There is no hook' : `${found.length} hooks have the name`;
  throw new UserError(`${reason} ${wanted}. "aep hooks list" shows ids.`);
}

export async function list(options: CommonOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const hooks = await client.inboundHooks({ limit: Math.min(options.limit, 100) }).take(options.limit);
  if (options.json) return printJson(hooks);
  printTable(hooks, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    sender: ({ vendor }) => vendor,
    enabled: ({ enabled }) => (enabled ? 'yes' : 'no'),
    'last event': ({ lastDeliveryAt }) => (lastDeliveryAt === null ? 'none' : timeOf(lastDeliveryAt)),
    address: ({ address }) => address,
  });
}

/** Only the secret goes to standard output, so that a program can store it. */
function printSecret({ json }: CommonOptions, { hook, secret }: InboundHookWithSecret): void {
  if (json) printJson({ hook, secret });
  else {
    process.stderr.write(`${hook.id} receives events at ${hook.address}. The secret is shown only once:\n`);
    printLine(secret);
  }
}

interface CreateOptions extends CommonOptions {
  vendor: InboundHook['vendor'];
  signature?: InboundHook['signature'];
  header?: string;
}

export async function create(options: CreateOptions, name: string): Promise<void> {
  const { vendor, signature, header } = options;
  const client = await openClient(options.url);
  const signed = {
    ...(signature && { signature }),
    ...(header && { signature: 'header' as const, signatureHeader: header }),
  };
  printSecret(options, await client.createInboundHook({ name, vendor, ...signed }));
}

export async function replaceSecret(options: CommonOptions & { secret?: string }, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: hookId } = await findHook(client, wanted);
  const secret = options.secret && (await readPrompt(options.secret)).trim();
  printSecret(options, await client.replaceInboundHookSecret({ hookId, ...(secret && { secret }) }));
}

const change = async (
  options: CommonOptions,
  wanted: string,
  changes: { name?: string; enabled?: boolean },
  done: string,
): Promise<void> => {
  const client = await openClient(options.url);
  const { id: hookId } = await findHook(client, wanted);
  const hook = await client.updateInboundHook({ hookId, ...changes });
  if (options.json) printJson(hook);
  else printLine(`${done} ${paint('bold', hook.name)}.`);
};
export const enable = (options: CommonOptions, wanted: string) => change(options, wanted, { enabled: true }, 'Enabled');
export const disable = (options: CommonOptions, wanted: string) =>
  change(options, wanted, { enabled: false }, 'Disabled');
export const rename = (options: CommonOptions, wanted: string, name: string) =>
  change(options, wanted, { name }, 'Renamed to');

export async function remove(options: CommonOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: hookId, name } = await findHook(client, wanted);
  const answer = await client.deleteInboundHook({ hookId });
  if (options.json) printJson(answer);
  else printLine(`Deleted ${paint('bold', name)}.`);
}

/** The runs that an event has started, or the reason why it started none. */
const outcomeOf = ({ outcomes, reason }: InboundDelivery): string =>
  outcomes.flatMap(({ runId }) => runId ?? []).join(' ') ||
  (reason ?? outcomes.map((one) => `${one.name}: ${one.reason}`).join('; '));

interface DeliveriesOptions extends CommonOptions {
  status?: InboundDelivery['status'];
  limit: number;
}

export async function deliveries(options: DeliveriesOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: hookId } = await findHook(client, wanted);
  const filter = { hookId, limit: Math.min(options.limit, 100), ...(options.status && { status: options.status }) };
  const rows = await client.inboundDeliveries(filter).take(options.limit);
  if (options.json) return printJson(rows);
  printTable(rows, {
    id: ({ id }) => id,
    event: ({ title, event }) => title ?? event,
    status: ({ status }) => status,
    outcome: outcomeOf,
    received: ({ receivedAt }) => timeOf(receivedAt),
  });
}

export async function redeliver(options: CommonOptions, wanted: string, deliveryId: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: hookId } = await findHook(client, wanted);
  const delivery = await client.redeliverInboundDelivery({ hookId, deliveryId });
  if (options.json) printJson(delivery);
  else printLine(`${delivery.id} is processed again.`);
}

export async function approve(options: CommonOptions, wanted: string, deliveryId: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: hookId } = await findHook(client, wanted);
  const delivery = await client.approveInboundDelivery({ hookId, deliveryId });
  if (options.json) printJson(delivery);
  else printLine(`${delivery.id} starts its missions, which are billed to you.`);
}
