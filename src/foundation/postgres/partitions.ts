// Partitions by time of a table whose default partition takes the rows of all other times (PostgreSQL manual, 5.12). They are created
// ahead of time. Any number of processes may do this at once; the second one changes nothing.
import { isoTime } from '../clock.ts';
import { type Transaction, transaction } from './database.ts';

export interface PartitionedTable {
  name: string;
  /** Name of the column with the time in epoch milliseconds. */
  timeColumn: string;
  /** Length of the time range of one partition in milliseconds; a multiple of a day. */
  rangeMs: number;
  /** Key of the advisory lock: an arbitrary constant, the same in all processes. */
  lockKey: number;
}

export interface Partition {
  /** Name of a partition, which ends with its first day, such as `sandbox_metrics_20261119`. */
  name: string;
  /** End of the partition's time range, exclusive. */
  until: number;
}

/**
 * Creates the partitions for the times from `since` to `until`.
 * @param dropOld Receives all partitions but the default one, the oldest first, in the same transaction
 */
export function keepPartitions(
  table: PartitionedTable,
  since: number,
  until: number,
  dropOld: (trx: Transaction, partitions: readonly Partition[]) => Promise<void>,
): Promise<void> {
  return transaction(async (trx) => {
    // Limits the wait for a lock: behind a waiting lock request, all later statements would queue.
    await trx.raw(`set local lock_timeout = '2s'`);
    await trx.raw(`select pg_advisory_xact_lock(${table.lockKey})`);
    const present = await partitionsOf(trx, table);
    const known = new Set(present.map(({ name }) => name));
    for (let from = since - (since % table.rangeMs); from <= until; from += table.rangeMs) {
      if (!known.has(nameOf(table, from))) await createPartition(trx, table, from);
    }
    await dropOld(trx, present);
  });
}

const nameOf = ({ name }: PartitionedTable, from: number): string =>
  `${name}_${isoTime(from).slice(0, 10).replaceAll('-', '')}`;

async function partitionsOf(trx: Transaction, { name: table, rangeMs }: PartitionedTable): Promise<Partition[]> {
  const { rows } = await trx.raw(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table}'::regclass and c.relname <> '${table}_default' order by 1`,
  );
  return (rows as { name: string }[]).map(({ name }) => {
    const day = name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3');
    return { name, until: Date.parse(day) + rangeMs };
  });
}

/**
 * Moves the rows of the range out of the default partition first: PostgreSQL refuses to attach a partition while the default one has
 * such rows.
 */
async function createPartition(trx: Transaction, table: PartitionedTable, from: number): Promise<void> {
  const { name, timeColumn, rangeMs } = table;
  const [partition, until] = [nameOf(table, from), from + rangeMs];
  await trx.raw(`create table ${partition} (like ${name} including all)`);
  const { rows } = await trx.raw(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
      where attrelid = '${partition}'::regclass and attnum > 0 and not attisdropped`,
  );
  const { columns } = rows[0] as { columns: string };
  await trx.raw(`lock table ${name}_default in access exclusive mode`);
  await trx.raw(
    `with moved as (delete from ${name}_default where ${timeColumn} >= ${from} and ${timeColumn} < ${until} returning ${columns})
     insert into ${partition} (${columns}) select ${columns} from moved`,
  );
  await trx.raw(`alter table ${name} attach partition ${partition} for values from (${from}) to (${until})`);
}
