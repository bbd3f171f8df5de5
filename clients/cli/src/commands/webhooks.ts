// Webhook endpoints and the deliveries to them: list, create, disable, replace the secret, delete; send events again.
import type {
  Client,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '../../../typescript/src/exports.ts';
import { exitCodes, paint, plain, printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';

/** Finds an endpoint by id or name. @throws when there is none, or several */
async function findEndpoint(client: Client, wanted: string): Promise<Pick<WebhookEndpoint, 'id' | 'name'>> {
  if (wanted.startsWith('whk_')) return client.webhookEndpoint({ endpointId: wanted });
  const found: WebhookEndpoint[] = [];
  for await (const endpoint of client.webhookEndpoints({ limit: 100 }))
    if (endpoint.name === wanted) found.push(endpoint);
  if (found.length === 1) return found[0]!;
  const reason = found.length === 0 ? 'There is no webhook' : `${found.length} webhooks have the name`;
  throw new UserError(`${reason} ${wanted}. "aep webhooks list" shows ids.`);
}

const stateOf = ({ enabled, disabledReason, failingSince }: WebhookEndpoint): string =>
  enabled ? (failingSince === null ? 'active' : 'failing') : `disabled (${disabledReason})`;

export async function list(options: CommonOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const endpoints = await client.webhookEndpoints({ limit: Math.min(options.limit, 100) }).take(options.limit);
  if (options.json) return printJson(endpoints);
  printTable(endpoints, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    state: stateOf,
    types: ({ types }) => types.join(' ') || 'all',
    address: ({ url }) => url,
  });
}

/** Only the secret goes to standard output, so that a program can store it. */
function printSecret({ json }: CommonOptions, { endpoint, secret }: WebhookEndpointWithSecret): void {
  if (json) printJson({ endpoint, secret });
  else {
    process.stderr.write(`${endpoint.id} sends events to ${endpoint.url}. The secret is shown only once:\n`);
    printLine(secret);
  }
}

interface CreateOptions extends CommonOptions {
  type?: string[];
  project?: string[];
  ordered?: boolean;
}

export async function create(options: CreateOptions, name: string, url: string): Promise<void> {
  const { type: types = [], project = [], ordered = false } = options;
  const client = await openClient(options.url);
  const projectIds = await Promise.all(project.map(async (wanted) => (await findProject(client, wanted)).id));
  printSecret(options, await client.createWebhookEndpoint({ name, url, types, projectIds, ordered }));
}

export async function rotate(options: CommonOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: endpointId } = await findEndpoint(client, wanted);
  printSecret(options, await client.replaceWebhookSecret({ endpointId }));
}

const setEnabled = (enabled: boolean, done: string) => async (options: CommonOptions, wanted: string) => {
  const client = await openClient(options.url);
  const { id: endpointId } = await findEndpoint(client, wanted);
  const endpoint = await client.updateWebhookEndpoint({ endpointId, enabled });
  if (options.json) printJson(endpoint);
  else printLine(`${done} ${paint('bold', endpoint.name)}.`);
};
export const enable = setEnabled(true, 'Enabled');
export const disable = setEnabled(false, 'Disabled');

export async function remove(options: CommonOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: endpointId, name } = await findEndpoint(client, wanted);
  const answer = await client.deleteWebhookEndpoint({ endpointId });
  if (options.json) printJson(answer);
  else printLine(`Deleted ${paint('bold', name)}.`);
}

/** Exits with 1 if the receiver does not accept the event. */
export async function test(options: CommonOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: endpointId } = await findEndpoint(client, wanted);
  const delivery = await client.testWebhookEndpoint({ endpointId });
  const { status, type, answerStatus, answerBody, error, durationMs } = delivery;
  if (status !== 'delivered') process.exitCode = exitCodes.error;
  if (options.json) return printJson(delivery);
  if (answerStatus !== null) printLine(`The response to ${type} was ${answerStatus}, after ${durationMs} ms.`);
  if (error !== null) printLine(plain(error));
  if (answerBody) printLine(plain(answerBody));
}

interface RangeOptions extends CommonOptions {
  status?: WebhookDelivery['status'];
  from?: number;
  before?: number;
}

const rangeOf = ({ status, from, before }: RangeOptions) => ({
  ...(status && { status }),
  ...(from !== undefined && { createdFrom: from }),
  ...(before !== undefined && { createdBefore: before }),
});

const answerOf = ({ answerStatus, error, attempts }: WebhookDelivery): string =>
  attempts === 0 ? 'not sent yet' : (error ?? String(answerStatus));

export async function deliveries(options: RangeOptions & { limit: number }, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: endpointId } = await findEndpoint(client, wanted);
  const filter = { endpointId, limit: Math.min(options.limit, 100), ...rangeOf(options) };
  const rows = await client.webhookDeliveries(filter).take(options.limit);
  if (options.json) return printJson(rows);
  printTable(rows, {
    id: ({ id }) => id,
    event: ({ type }) => type,
    number: ({ number }) => String(number),
    status: ({ status }) => status,
    attempts: ({ attempts }) => String(attempts),
    answer: answerOf,
    written: ({ createdAt }) => timeOf(createdAt),
  });
}

export async function resend(options: RangeOptions, wanted: string, webhookDeliveryId?: string): Promise<void> {
  const client = await openClient(options.url);
  const { createdFrom, ...range } = rangeOf(options);
  if (webhookDeliveryId === undefined && createdFrom === undefined)
    throw new UserError('Give the id of a delivery, or the beginning of a period with --from.');
  if (webhookDeliveryId !== undefined && Object.keys(rangeOf(options)).length > 0)
    throw new UserError('Give either a delivery or a period, not both.');
  const { id: endpointId } = await findEndpoint(client, wanted);
  if (webhookDeliveryId !== undefined) {
    const delivery = await client.resendWebhookDelivery({ endpointId, webhookDeliveryId });
    if (options.json) printJson(delivery);
    else printLine(`${delivery.type} is sent again as ${delivery.id}.`);
    return;
  }
  const answer = await client.resendWebhookDeliveries({ endpointId, createdFrom: createdFrom!, ...range });
  if (options.json) printJson(answer);
  else printLine(answer.count === 1 ? '1 event is sent again.' : `${answer.count} events are sent again.`);
}
