// Vendors of language models behind the connectors of organizations: calls to them, and whether they accept the credentials.
import type { Row } from '#foundation/base-model.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { Problem } from '#foundation/problem.ts';
import type { ModelVendor } from '../agents/catalog.ts';
import { Integration } from '../integrations/model.ts';
import { credentialsOf, noteCheck } from '../integrations/operations.ts';
import { call, type VendorConnection } from './connection.ts';
import { modelAddress } from './model-address.ts';

const names: Readonly<Record<ModelVendor, string>> = { anthropic: 'Anthropic', openai: 'OpenAI' };

/** How long an answer of the vendor counts, and how long it is waited for. */
export const modelChecks = { acceptedMs: minutes(5), failedMs: minutes(1), timeoutMs: seconds(3) } as const;

/** The headers that carry the credentials. */
export const credentialHeaders = (
  { vendor }: Pick<Integration, 'vendor'>,
  credentials: string,
): Record<string, string> =>
  vendor === 'anthropic' ? { 'x-api-key': credentials } : { authorization: `Bearer ${credentials}` };

/** @throws 409 without credentials */
export async function connectModel(connector: Row<Integration>, timeoutMs: number): Promise<VendorConnection> {
  return {
    name: names[connector.vendor as ModelVendor],
    kind: 'llm',
    address: modelAddress(connector),
    connector,
    credentials: await credentialsOf(connector),
    signal: AbortSignal.timeout(timeoutMs),
  };
}

const anthropicVersion = { 'anthropic-version': '2023-06-01' };

/** The headers of a call, with the credentials. */
export const headersOf = ({ connector, credentials }: VendorConnection): Record<string, string> => ({
  accept: 'application/json',
  ...credentialHeaders(connector, credentials),
  ...(connector.vendor === 'anthropic' && anthropicVersion),
});

/** The path below `modelAddress`: Anthropic's addresses do not contain the version. */
export const modelPath = ({ connector }: VendorConnection, path: string): string =>
  connector.vendor === 'anthropic' ? `/v1${path}` : path;

let log: (line: string) => void = () => {};
/** Binds where the reasons of failed checks go; called once at start. */
export function bindModelLog(write: (line: string) => void): void {
  log = write;
}

/** Asks for the list of models, which costs nothing. Returns why the credentials do not work; null: they do. */
async function askVendor(connector: Row<Integration>): Promise<string | null> {
  if (!connector.hasCredentials) return 'The connector has no credentials.';
  try {
    const connection = await connectModel(connector, modelChecks.timeoutMs);
    const { status } = await call(connection, modelPath(connection, '/models'), { headers: headersOf(connection) });
    if (status >= 200 && status < 300) return null;
    const { name } = connection;
    if (status === 401 || status === 403) return `${name} rejected the credentials (status ${status}).`;
    return `${name} did not list its models (status ${status}).`;
  } catch (error) {
    if (error instanceof Problem) return error.body.description;
    throw error;
  }
}

/** Checks under way in this process, by connector and credentials. */
const underWay = new Map<string, Promise<Row<Integration>>>();

/** Asks the vendor now, and records the answer. */
export function checkModel(connector: Row<Integration>): Promise<Row<Integration>> {
  const key = `${connector.id} ${connector.updatedAt}`;
  const running = underWay.get(key);
  if (running) return running;
  const check = ask(connector).finally(() => underWay.delete(key));
  underWay.set(key, check);
  return check;
}

async function ask(connector: Row<Integration>): Promise<Row<Integration>> {
  const failure = await askVendor(connector);
  if (failure) log(`the model connector ${connector.id} cannot be used: ${failure}`);
  await noteCheck(connector, failure);
  return { ...connector, checkedAt: now(), checkFailure: failure };
}

/** Whether the vendor accepts the credentials: as it said within five minutes, or a minute for a no; else it is asked. */
export async function isUsableForInference(orgId: string, id: string, vendor: ModelVendor): Promise<boolean> {
  const connector = await Integration.find({ id, orgId, vendor, vendorKind: 'llm' });
  if (!connector?.hasCredentials) return false;
  const { checkedAt, checkFailure } = connector;
  const lastsMs = checkFailure === null ? modelChecks.acceptedMs : modelChecks.failedMs;
  const known = checkedAt !== null && checkedAt > now() - lastsMs ? connector : await checkModel(connector);
  return known.checkFailure === null;
}
