// The partitions of the sample table, one for each week, dropped after the retention period.

import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { createPartitions, dropPartition, partitionsOf } from '#foundation/postgres/partitions.ts';
import { metricRetentionMs } from '#limits.ts';

/** The period that one partition covers, and how far ahead partitions are created. */
export const partitionMs = days(7);
const aheadMs = days(14);
const table = { name: 'sandbox_metrics', timeColumn: 'at', rangeMs: partitionMs, lockKey: 4_716_201_127 };

export async function keepMetricPartitions(): Promise<void> {
  await createPartitions(table, now(), now() + aheadMs);
  const oldest = now() - metricRetentionMs;
  for (const partition of await partitionsOf(table)) {
    if (partition.until <= oldest) await dropPartition(table, partition);
  }
  await sql('delete from sandbox_metrics_default where at < $1', [oldest]);
}
