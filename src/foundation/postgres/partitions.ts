// Manages tables that are partitioned by time. Each table has a default partition, which takes the rows of all times that have no partition
// of their own (PostgreSQL manual, 5.12). Partitions are created ahead of time. Any number of processes may create them at once; only the
// first process changes anything.
import { isoTime } from '../clock.ts';
import { sql, type Transaction, transaction } from './database.ts';

export interface PartitionedTable {
  name: string;
  /** The column with the time in epoch milliseconds. */
  timeColumn: string;
  /** The period that one partition covers, in whole days. */
  rangeMs: number;
  /** Key of the advisory lock for creating partitions: an arbitrary constant, the same in all processes. */
  lockKey: number;
}

export interface Partition {
  /** The name of the partition, which ends with its first day: `sandbox_metrics_20261119`. */
  name: string;
  /** The end of the partition's period, exclusive. */
  until: number;
}

/**
 * Creates the partitions for the times from `since` to `until`, and moves their rows out of the default partition, which is locked
 * meanwhile.
 */
export function createPartitions(table: PartitionedTable, since: number, until: number): Promise<void> {
  return changePartitions(table, async (trx) => {
    const known = new Set((await partitionsOf(table, trx)).map(({ name }) => name));
    for (let from = since - (since % table.rangeMs); from <= until; from += table.rangeMs) {
      if (!known.has(nameOf(table, from))) await createWithRows(trx, table, from);
    }
  });
}

/**
 * Creates the partition for the next period, which has not begun. A constraint first proves to PostgreSQL that the default partition has no
 * row of this period. PostgreSQL validates the constraint without a lock that blocks reads or writes. Without the constraint, PostgreSQL
 * would lock the default partition and read all its rows.
 * @throws if the default partition has rows of this period because a clock was ahead; these rows stay in it
 */
export async function createNextPartition(table: PartitionedTable, at: number): Promise<void> {
  const { name, timeColumn, rangeMs } = table;
  const from = at - (at % rangeMs);
  const partition = nameOf(table, from);
  const isThere = async (trx?: Transaction) => (await partitionsOf(table, trx)).some((one) => one.name === partition);
  if (await isThere()) return;
  const constraint = `${partition}_is_later`;
  const dropConstraint = `alter table ${name}_default drop constraint if exists ${constraint}`;
  await changePartitions(table, async (trx) => {
    await trx.raw(dropConstraint);
    const check = `${timeColumn} < ${from} or ${timeColumn} >= ${from + rangeMs}`;
    await trx.raw(`alter table ${name}_default add constraint ${constraint} check (${check}) not valid`);
  });
  await sql(`alter table ${name}_default validate constraint ${constraint}`, []);
  await changePartitions(table, async (trx) => {
    if (!(await isThere(trx))) {
      await trx.raw(`create table ${partition} (like ${name} including all)`);
      await attach(trx, table, from);
    }
    await trx.raw(dropConstraint);
  });
}

/** Drops a partition with all its rows. */
export const dropPartition = (table: PartitionedTable, { name }: Partition): Promise<void> =>
  changePartitions(table, (trx) => trx.raw(`drop table if exists ${name}`));

/** All partitions but the default one, the oldest first. */
export async function partitionsOf(
  { name: table, rangeMs }: PartitionedTable,
  trx?: Transaction,
): Promise<Partition[]> {
  const rows = await sql<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table}'::regclass and c.relname <> '${table}_default' order by 1`,
    [],
    trx,
  );
  return rows.map(({ name }) => {
    const day = name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3');
    return { name, until: Date.parse(day) + rangeMs };
  });
}

const nameOf = ({ name }: PartitionedTable, from: number): string =>
  `${name}_${isoTime(from).slice(0, 10).replaceAll('-', '')}`;

const changePartitions = (table: PartitionedTable, change: (trx: Transaction) => Promise<void>): Promise<void> =>
  transaction(async (trx) => {
    // Limits the wait for a lock: behind a waiting lock request, all later statements would queue.
    await trx.raw(`set local lock_timeout = '2s'`);
    await trx.raw(`select pg_advisory_xact_lock(${table.lockKey})`);
    await change(trx);
  });

/** PostgreSQL refuses to attach a partition while the default partition has rows for the period of the new one. */
async function createWithRows(trx: Transaction, table: PartitionedTable, from: number): Promise<void> {
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
  await attach(trx, table, from);
}

const attach = (trx: Transaction, table: PartitionedTable, from: number): Promise<void> =>
  trx.raw(
    `alter table ${table.name} attach partition ${nameOf(table, from)} for values from (${from}) to (${from + table.rangeMs})`,
  );
