// The partitions of the sample table, one for each week: created ahead of time, dropped after the retention period (PostgreSQL
// manual, 5.12). Any number of processes may run this at once; the second run changes nothing.

import { days, isoTime, now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { metricRetentionMs } from '#limits.ts';
import { SandboxMetric } from './model.ts';

/** The time range of one partition, and how far ahead partitions are created. */
export const partitionMs = days(7);
const aheadMs = days(14);
/** An arbitrary constant, the same in all processes. */
const lockKey = 4_716_201_127;

const samples = columnsOf(SandboxMetric);

/** The name of a partition, which has its first day: `sandbox_metrics_20261119`. */
const nameOf = (from: number): string => `sandbox_metrics_${isoTime(from).slice(0, 10).replaceAll('-', '')}`;

export function keepMetricPartitions(): Promise<void> {
  return transaction(async (trx) => {
    // Limits the wait for a lock: behind a waiting lock request, all later statements would queue.
    await trx.raw(`set local lock_timeout = '2s'`);
    await trx.raw(`select pg_advisory_xact_lock(${lockKey})`);
    const there = await partitions(trx);
    const at = now();
    for (let from = at - (at % partitionMs); from <= at + aheadMs; from += partitionMs) {
      if (!there.includes(nameOf(from))) await createPartition(trx, from);
    }
    const oldest = nameOf(at - metricRetentionMs - partitionMs);
    for (const name of there) if (name <= oldest) await trx.raw(`drop table ${name}`);
    await trx.raw('delete from sandbox_metrics_default where at < ?', [at - metricRetentionMs]);
  });
}

/** Oldest first: names sort by date. */
async function partitions(trx: Transaction): Promise<string[]> {
  const { rows } = await trx.raw(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'sandbox_metrics'::regclass and c.relname <> 'sandbox_metrics_default' order by 1`,
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

/**
 * Moves the samples of the range out of the default partition first: PostgreSQL refuses to attach a partition while the default one has
 * such rows.
 */
async function createPartition(trx: Transaction, from: number): Promise<void> {
  const [name, until] = [nameOf(from), from + partitionMs];
  await trx.raw(`create table ${name} (like sandbox_metrics including all)`);
  await trx.raw('lock table sandbox_metrics_default in access exclusive mode');
  await trx.raw(
    `with moved as (delete from sandbox_metrics_default where at >= ${from} and at < ${until} returning ${samples})
     insert into ${name} (${samples}) select ${samples} from moved`,
  );
  await trx.raw(`alter table sandbox_metrics attach partition ${name} for values from (${from}) to (${until})`);
}
