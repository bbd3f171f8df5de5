// The parts of the installation's state, each read by a function of the module that owns the data.
import { countJobs, findFailedJobs } from '#foundation/jobs/figures.ts';
import { database } from '#foundation/postgres/database.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import {
  readClients,
  readCostlyStatements,
  readReplicas,
  readRunningStatements,
  readServer,
  readTables,
} from '#foundation/postgres/server-figures.ts';
import { organizationsWithIds } from '../../organization/organizations/operations.ts';
import { listAllRuntimes } from '../../projects/agents/runtime-harnesses.ts';
import { countWaitingEvents } from '../../work/inbound/retry.ts';
import { readWaitingRuns } from '../../work/runs/waiting-figures.ts';
import { readBackups } from '../backups/state.ts';

const shown = { failedJobs: 10, waits: 50, tables: 20, clients: 100, replicas: 20, statements: 15 } as const;
/** Records with the slug of their organization in place of its id. */
async function withOrganizations<T extends { orgId: string | null }>(
  records: readonly T[],
): Promise<(Omit<T, 'orgId'> & { organization: string | null })[]> {
  const ids = new Set(records.flatMap(({ orgId }) => orgId ?? []));
  const slugs = new Map((await organizationsWithIds([...ids])).map(({ id, slug }) => [id as string, slug]));
  return records.map(({ orgId, ...record }) => ({ ...record, organization: slugs.get(orgId ?? '') ?? null }));
}

/** The parts in the order in which they are read; those that an operator needs most come first. */
export const statusParts = {
  migrations: async () => {
    const { applied, pending } = await migrationStatus(database());
    return { applied: applied.length, newest: applied.at(-1) ?? null, pending };
  },
  queues: countJobs,
  failedJobs: () => findFailedJobs(shown.failedJobs),
  waitingRuns: async () => withOrganizations(await readWaitingRuns(shown.waits)),
  waitingEvents: countWaitingEvents,
  runtimes: async () => withOrganizations(await listAllRuntimes()),
  server: readServer,
  clients: () => readClients(shown.clients),
  replicas: () => readReplicas(shown.replicas),
  runningStatements: () => readRunningStatements(shown.statements),
  costlyStatements: () => readCostlyStatements(shown.statements),
  tables: () => readTables(shown.tables),
  backups: readBackups,
} as const;
export type StatusPart = keyof typeof statusParts;

/** A part is null when it could not be read in time; `unread` then says why. */
export type StatusParts = { [name in StatusPart]: Awaited<ReturnType<(typeof statusParts)[name]>> | null };
