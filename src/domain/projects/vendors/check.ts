// Checks whether vendors accept the credentials of connectors, with a call that changes nothing and costs nothing.
import { z } from 'zod';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { jsonOf } from '#foundation/http/outbound.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { Problem } from '#foundation/problem.ts';
import { text } from '#limits.ts';
import type { ModelVendor } from '../agents/catalog.ts';
import { Integration, type VendorKind } from '../integrations/model.ts';
import { type CheckResult, noteCheck } from '../integrations/operations.ts';
import type { RemoteVendor } from './addresses.ts';
import { call, connectTo, isFinal, unexpectedAnswer, type VendorConnection } from './connection.ts';
import { callAsApp, callGitHub, refusalOf } from './github.ts';
import { type GitHubApp, readApp } from './github-app.ts';
import { queryLinear } from './linear.ts';
import { headersOf, modelPath } from './models.ts';

/** How long a result about models is reused, and the time limit of a check. */
export const vendorChecks = { acceptedMs: minutes(5), failedMs: minutes(1), timeoutMs: seconds(3) } as const;

export interface Verdict extends CheckResult {
  /** The input that a person must correct; null means none, or the vendor did not say. */
  field: 'credentials' | 'baseUrl' | null;
}

const accepted = (account: string | null): Verdict => ({ failure: null, field: null, account });
const rejected = (field: Verdict['field'], failure: string): Verdict => ({ failure, field, account: null });

const Account = z
  .string()
  .max(text.externalOrgId.max)
  .regex(/^[\w.[\]-]+$/);
const GitHubUser = z.object({ login: Account });

/** REST, "Get the authenticated user": tokens need no permission for it. */
async function askGitHub(connection: VendorConnection): Promise<Verdict> {
  const app = readApp(connection.credentials);
  if (app) return askInstallation(connection, app);
  const answered = await callGitHub(connection, '/user');
  const { status } = answered;
  const { data } = status === 200 ? GitHubUser.safeParse(jsonOf(answered)) : {};
  if (data) return accepted(data.login);
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    throw refusalOf(connection, '/user', answered);
  }
  return rejected('baseUrl', `There is no API of GitHub at ${connection.address} (status ${status}).`);
}

const Installation = z.object({
  account: GitHubUser,
  permissions: z.record(z.string(), z.string()),
  suspended_at: z.string().nullish(),
});

/** The permissions that a connector of the kind needs. */
const needed: Readonly<Record<VendorKind, readonly string[]>> = {
  tracker: ['issues'],
  scm: ['contents', 'pull_requests'],
  llm: [],
};

/** REST, "Get an installation for the authenticated app". */
async function askInstallation(connection: VendorConnection, app: GitHubApp): Promise<Verdict> {
  const path = `/app/installations/${app.installationId}`;
  const answered = await callAsApp(connection, app, path);
  if (answered.status === 404)
    return rejected('credentials', `GitHub shows no installation ${app.installationId} to the App ${app.appId}.`);
  if (answered.status !== 200) throw refusalOf(connection, path, answered);
  const { data } = Installation.safeParse(jsonOf(answered));
  if (!data) throw unexpectedAnswer(connection);
  if (data.suspended_at) return rejected('credentials', 'GitHub has suspended the installation of the App.');
  const missing = needed[connection.kind].filter((name) => data.permissions[name] !== 'write');
  if (missing.length > 0)
    return rejected('credentials', `The installation of the App may not write ${missing.join(' and ')}.`);
  return accepted(data.account.login);
}

const whoseQuery = 'query Whose { organization { urlKey } }';
const Whose = z.object({ organization: z.object({ urlKey: Account }) });

const askLinear = async (connection: VendorConnection): Promise<Verdict> =>
  accepted((await queryLinear(connection, Whose, whoseQuery, {})).organization.urlKey);

/** Requests the list of models, which compatible servers may lack. */
async function askModels(connection: VendorConnection): Promise<Verdict> {
  const { name } = connection;
  const { status } = await call(connection, modelPath(connection, '/models'), { headers: headersOf(connection) });
  if (status >= 200 && status < 300) return accepted(null);
  if (status === 401 || status === 403)
    return rejected('credentials', `${name} rejected the credentials (status ${status}).`);
  return rejected(null, `${name} did not list its models (status ${status}).`);
}

const askers: Readonly<Record<RemoteVendor, (connection: VendorConnection) => Promise<Verdict>>> = {
  github: askGitHub,
  linear: askLinear,
  anthropic: askModels,
  openai: askModels,
};

/** Checks once. An unreachable vendor is a result too. */
export async function askVendor(connection: VendorConnection): Promise<Verdict> {
  try {
    return await askers[connection.vendor as RemoteVendor](connection);
  } catch (error) {
    if (error instanceof Problem) return rejected(isFinal(error) ? 'credentials' : null, error.body.description);
    throw error;
  }
}

let log: (line: string) => void = () => {};
/** Binds the log of failed checks; called once at start. */
export function bindCheckLog(write: (line: string) => void): void {
  log = write;
}

/** Checks under way in this process, by connector and credentials. */
const underWay = new Map<string, Promise<Row<Integration>>>();

/** Checks the credentials with the vendor now, and records the result. */
export async function checkConnector(connector: Row<Integration>): Promise<Row<Integration>> {
  await releaseTransaction();
  const key = `${connector.id} ${connector.updatedAt}`;
  const running = underWay.get(key);
  if (running) return running;
  const check = checkNow(connector).finally(() => underWay.delete(key));
  underWay.set(key, check);
  return check;
}

async function checkNow(connector: Row<Integration>): Promise<Row<Integration>> {
  const result = await resultOf(connector);
  if (result.failure) log(`the connector ${connector.id} cannot be used: ${result.failure}`);
  return noteCheck(connector, result);
}

async function resultOf(connector: Row<Integration>): Promise<CheckResult> {
  if (connector.vendor === 'builtin') return accepted(null);
  if (!connector.hasCredentials) return rejected('credentials', 'The connector has no credentials.');
  try {
    return await askVendor(await connectTo(connector, vendorChecks.timeoutMs));
  } catch (error) {
    // The credentials cannot be read.
    if (error instanceof Problem) return rejected('credentials', error.body.description);
    throw error;
  }
}

/**
 * Whether the vendor accepts the credentials. An acceptance is reused for five minutes, a rejection for one; otherwise the credentials
 * are checked.
 */
export async function isUsableForInference(orgId: string, id: string, vendor: ModelVendor): Promise<boolean> {
  const connector = await Integration.find({ id, orgId, vendor, vendorKind: 'llm' });
  if (!connector?.hasCredentials) return false;
  const { checkedAt, checkFailure } = connector;
  const lastsMs = checkFailure === null ? vendorChecks.acceptedMs : vendorChecks.failedMs;
  const known = checkedAt !== null && checkedAt > now() - lastsMs ? connector : await checkConnector(connector);
  return known.checkFailure === null;
}
