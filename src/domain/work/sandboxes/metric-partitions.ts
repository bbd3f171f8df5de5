// The partitions of the sample table, one for each week, dropped after the retention period.

import { days, now } from '#foundation/clock.ts';
import { keepPartitions } from '#foundation/postgres/partitions.ts';
import { metricRetentionMs } from '#limits.ts';

/** Length of the time range of one partition, and how far ahead partitions are created, in milliseconds. */
export const partitionMs = days(7);
const aheadMs = days(14);
const table = { name: 'sandbox_metrics', timeColumn: 'at', rangeMs: partitionMs, lockKey: 4_716_201_127 };

export async function keepMetricPartitions(): Promise<void> {
  const oldest = now() - metricRetentionMs;
  await keepPartitions(table, now(), now() + aheadMs, async (trx, partitions) => {
    for (const { name, until } of partitions) if (until <= oldest) await trx.raw(`drop table ${name}`);
    await trx.raw('delete from sandbox_metrics_default where at < ?', [oldest]);
  });
}
