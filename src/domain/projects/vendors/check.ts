// Checks whether vendors accept the credentials of connectors, with a call that changes nothing and costs nothing.
import { minutes, now, seconds } from '#foundation/clock.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { Problem } from '#foundation/problem.ts';
import type { ModelVendor } from '../agents/catalog.ts';
import { Integration } from '../integrations/model.ts';
import { type CheckResult, noteCheck } from '../integrations/operations.ts';
import { connectTo, isFinal, type VendorConnection } from './connection.ts';
import { moduleOf } from './registry.ts';
import { accepted, rejected, type Verdict } from './vendor.ts';

/** How long the result of a check of model credentials is reused, after an acceptance and after a failure; and the time limit of a check. */
export const vendorChecks = { acceptedMs: minutes(5), failedMs: minutes(1), timeoutMs: seconds(3) } as const;

/** Checks the credentials once. An unreachable vendor is also reported in the result. */
export async function askVendor(connection: VendorConnection): Promise<Verdict> {
  try {
    return (await moduleOf(connection.vendor).check?.(connection)) ?? accepted(null);
  } catch (error) {
    if (error instanceof Problem) return rejected(isFinal(error) ? 'credentials' : null, error.body.description);
    throw error;
  }
}

let log: (line: string) => void = () => {};
/** Sets the logger for failed checks; called once at startup. */
export function bindCheckLog(write: (line: string) => void): void {
  log = write;
}

/** Checks in progress in this process, by connector and credentials. */
const runningChecks = new Map<string, Promise<Integration>>();

/** Checks the credentials with the vendor now, and records the result. */
export async function checkConnector(connector: Integration): Promise<Integration> {
  await releaseTransaction();
  const key = `${connector.id} ${connector.updatedAt}`;
  const running = runningChecks.get(key);
  if (running) return running;
  const check = checkNow(connector).finally(() => runningChecks.delete(key));
  runningChecks.set(key, check);
  return check;
}

async function checkNow(connector: Integration): Promise<Integration> {
  const result = await resultOf(connector);
  if (result.failure) log(`the connector ${connector.id} cannot be used: ${result.failure}`);
  return noteCheck(connector, result);
}

async function resultOf(connector: Integration): Promise<CheckResult> {
  if (!moduleOf(connector.vendor).check) return accepted(null);
  if (!connector.hasCredentials) return rejected('credentials', 'The connector has no credentials.');
  try {
    return await askVendor(await connectTo(connector, vendorChecks.timeoutMs));
  } catch (error) {
    // The credentials could not be decrypted, so there is nothing to check.
    if (error instanceof Problem) return rejected('credentials', error.body.description);
    throw error;
  }
}

/**
 * Whether the vendor accepts the credentials. An acceptance is cached for five minutes, a rejection for one minute; after that the
 * credentials are checked again.
 */
export async function isUsableForInference(orgId: string, id: string, vendor: ModelVendor): Promise<boolean> {
  const connector = await Integration.find({ id, orgId, vendor, vendorKind: 'llm' });
  if (!connector?.hasCredentials) return false;
  const { checkedAt, checkFailure } = connector;
  const lastsMs = checkFailure === null ? vendorChecks.acceptedMs : vendorChecks.failedMs;
  const known = checkedAt !== null && checkedAt > now() - lastsMs ? connector : await checkConnector(connector);
  return known.checkFailure === null;
}
