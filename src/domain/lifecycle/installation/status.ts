// The state of the whole installation, for its operators. The console page, the endpoint and the command all use this reading. It uses one
// connection and a read-only transaction, with a time limit of a second for each part, so that it adds little load to a service in trouble.
import { now, seconds } from '#foundation/clock.ts';
import { database, enclosingTransaction, transaction } from '#foundation/postgres/database.ts';
import { replicaState } from '#foundation/postgres/replica.ts';
import { findingsOf } from './findings.ts';
import { type StatusPart, type StatusParts, statusParts } from './parts.ts';

const partTimeoutMs = seconds(1);
/** Time for which a reading is reused, so that requests in quick succession share it. */
const cachedMs = seconds(3);

export interface InstallationStatus extends StatusParts {
  /** Time of the reading, in epoch milliseconds. */
  at: number;
  /** Sentences about conditions that need an operator's attention. */
  findings: string[];
  /** The database's error message for each part that could not be read. */
  unread: Partial<Record<StatusPart, string>>;
  /** Whether the process that has read this state uses the replica of the database for reads; null without DATABASE_REPLICA_URL. */
  replicaInUse: boolean | null;
}

let cached: { of: unknown; until: number; status: Promise<InstallationStatus> } | undefined;

/** The state of the installation, at most three seconds old. @throws when the database is unavailable */
export function readStatus(): Promise<InstallationStatus> {
  const of = database();
  if (cached?.of === of && now() < cached.until) return cached.status;
  const status = read();
  cached = { of, until: now() + cachedMs, status };
  status.catch(() => {
    cached = undefined;
  });
  return status;
}

const read = (): Promise<InstallationStatus> =>
  enclosingTransaction(async (trx) => {
    await trx.raw(`set local transaction_read_only = on; set local statement_timeout = ${partTimeoutMs}`);
    const found: Partial<Record<StatusPart, unknown>> = {};
    const unread: InstallationStatus['unread'] = {};
    for (const [name, readPart] of Object.entries(statusParts) as [StatusPart, () => Promise<unknown>][]) {
      try {
        // Each part is read in a savepoint, so that the failure of one part does not affect the other parts.
        found[name] = await transaction(() => readPart());
      } catch (error) {
        found[name] = null;
        unread[name] = (error as Error).message;
      }
    }
    const read = found as unknown as StatusParts;
    const replicaInUse = replicaState()?.isInUse ?? null;
    return { at: now(), findings: findingsOf(read, replicaInUse), ...read, unread, replicaInUse };
  });
