// Reads counters of PostgreSQL. The difference between two readings is the cost of the work done between them.
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

interface Statement {
  nested: boolean;
  query: string;
  calls: number;
  rows: number;
  microseconds: number;
  walBytes: number;
}

const statementsSql = `select not toplevel as nested, query, sum(calls)::float8 as calls, sum(rows)::float8 as rows,
    sum(total_exec_time + total_plan_time)::float8 * 1000 as microseconds, sum(wal_bytes)::float8 as wal_bytes
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) group by 1, 2`;

/**
 * Begins to count statements, and returns a function that lists the most expensive ones, per piece of work. Statements of triggers and
 * foreign keys are listed as nested, and their cost is also part of the statement that caused them. Times are not CPU times, because they
 * contain waits.
 */
export async function readStatements(pieces: number): Promise<() => Promise<string[]>> {
  await sql('select pg_stat_statements_reset()');
  return async () => {
    const found = await sql<Statement>(statementsSql);
    const each = (value: number, digits = 2) => (value / pieces).toFixed(digits).padStart(9);
    return found
      .sort((a, b) => b.microseconds - a.microseconds)
      .slice(0, 60)
      .map(({ nested, query, calls, rows, microseconds, walBytes }) =>
        [each(calls, 4), each(rows), each(microseconds), each(walBytes, 0), nested ? ' nested ' : '        ']
          .concat(query.replace(/\s+/g, ' ').slice(0, 110))
          .join(' '),
      );
  };
}
