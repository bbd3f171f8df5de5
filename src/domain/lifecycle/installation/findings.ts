// Findings for operators: sentences about conditions that need attention, each with the measured figure.
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import type { StatusParts } from './parts.ts';

/** Thresholds beyond which a figure becomes a finding. */
const usual = {
  jobSeconds: 300,
  runMs: minutes(10),
  transactionSeconds: 300,
  replicaSeconds: 60,
  connectionShare: 0.8,
  /** Number of backup intervals without a complete backup. */
  backupIntervals: 2,
  transactionIdShare: 0.5,
} as const;

/** A duration in its largest unit, rounded down: `4 s`, `12 min`, `3 h`, `2 d`. */
export function durationOf(milliseconds: number): string {
  const units = [
    ['d', days(1)],
    ['h', minutes(60)],
    ['min', minutes(1)],
  ] as const;
  const [unit, size] = units.find(([, size]) => milliseconds >= size) ?? (['s', seconds(1)] as const);
  return `${Math.max(0, Math.floor(milliseconds / size))} ${unit}`;
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export function findingsOf(parts: StatusParts, replicaInUse: boolean | null): string[] {
  return [...findingsOfWork(parts), ...findingsOfDatabase(parts, replicaInUse), ...findingsOfBackups(parts)];
}

function* findingsOfWork({ migrations, queues, waitingRuns, runtimes }: StatusParts): Generator<string> {
  const pending = migrations?.pending.length ?? 0;
  if (pending > 0) yield `${counted(pending, 'migration is', 'migrations are')} pending.`;
  for (const { queue, failedLastDay, oldestDueSeconds } of queues ?? []) {
    if ((oldestDueSeconds ?? 0) > usual.jobSeconds)
      yield `Jobs of the queue "${queue}" are not started: the oldest has been due for ${durationOf(seconds(oldestDueSeconds!))}.`;
    if (failedLastDay > 0)
      yield `${counted(failedLastDay, 'job', 'jobs')} of the queue "${queue}" failed permanently within the last day.`;
  }
  const forRuntime = (waitingRuns ?? []).filter(
    ({ waitsFor, since }) => waitsFor === 'a runtime' && now() - since > usual.runMs,
  );
  if (forRuntime.length > 0) {
    const runs = forRuntime.reduce((sum, one) => sum + one.runs, 0);
    const oldest = Math.min(...forRuntime.map(({ since }) => since));
    const connected = runtimes?.some(({ isConnected }) => isConnected);
    yield `${counted(runs, 'mission waits', 'missions wait')} for a runtime, the oldest for ${durationOf(now() - oldest)}${connected === false ? '; none is connected' : ''}.`;
  }
}

function* findingsOfDatabase(
  { server, replicas, runningStatements }: StatusParts,
  replicaInUse: boolean | null,
): Generator<string> {
  if (server && server.connections > usual.connectionShare * server.maxConnections)
    yield `${server.connections} of ${server.maxConnections} connections of the database are used.`;
  if (server && server.transactionIdsUsed > usual.transactionIdShare)
    yield `${Math.round(server.transactionIdsUsed * 100)} percent of the transaction ids are used: check that autovacuum works.`;
  for (const { name, lagSeconds } of replicas ?? []) {
    if ((lagSeconds ?? 0) > usual.replicaSeconds)
      yield `The replica ${name} is ${durationOf(seconds(lagSeconds!))} behind.`;
  }
  if (replicaInUse === false) yield 'Reads do not go to the replica of DATABASE_REPLICA_URL.';
  for (const { pid, client, transactionSeconds } of runningStatements ?? []) {
    if ((transactionSeconds ?? 0) > usual.transactionSeconds)
      yield `A transaction of ${client || 'a client without a name'} (process ${pid} of the server) has been open for ${durationOf(seconds(transactionSeconds!))}.`;
  }
}

function* findingsOfBackups({ backups }: StatusParts): Generator<string> {
  if (!backups) return;
  const [last] = backups.latest.filter(({ endedAt }) => endedAt !== null);
  if (last?.error) yield `The backup of ${durationOf(now() - last.startedAt)} ago failed: ${last.error}.`;
  const { newestComplete, intervalMs } = backups;
  if (newestComplete && now() - newestComplete.startedAt > usual.backupIntervals * intervalMs)
    yield `The newest complete backup is ${durationOf(now() - newestComplete.startedAt)} old.`;
}
