// Counters of PostgreSQL, whose differences are the cost of the work between two readings.
import { sql } from '#foundation/postgres/database.ts';

export interface DatabaseCounters {
  transactions: number;
  rowsWritten: number;
  walBytes: number;
}

const countersSql = `select xact_commit::float8 as transactions, (tup_inserted + tup_updated)::float8 as rows_written,
    (pg_current_wal_lsn() - '0/0')::float8 as wal_bytes from pg_stat_database where datname = current_database()`;

export async function readCounters(): Promise<DatabaseCounters> {
  return (await sql<DatabaseCounters>(countersSql))[0]!;
}
