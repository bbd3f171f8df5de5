// Figures of the database server for operators: its size, the tables, who is connected, replicas, and statements that take long. Every
// statement reads the catalog or the server's statistics, and none reads a table of the service.
import { redact } from '../log.ts';
import { sql } from './database.ts';

export interface DatabaseServer {
  version: string;
  startedSecondsAgo: number;
  bytes: number;
  connections: number;
  maxConnections: number;
  /** Share of the available transaction ids that are used, 0 to 1. The server would have to stop at 1; vacuum lowers the share. */
  transactionIdsUsed: number;
}

const serverSql = `select current_setting('server_version') as version,
    extract(epoch from clock_timestamp() - pg_postmaster_start_time())::int as started_seconds_ago,
    pg_database_size(current_database()) as bytes,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections')::int as max_connections,
    (select max(age(datfrozenxid)) / 2147483648.0 from pg_database) as transaction_ids_used`;
export const readServer = async (): Promise<DatabaseServer> => (await sql<DatabaseServer>(serverSql))[0]!;

export interface TableSize {
  /** Name of the table; the figures include all its partitions. */
  table: string;
  bytes: number;
  indexBytes: number;
  /** Numbers of rows as the server's statistics estimate them. */
  rows: number;
  deadRows: number;
  vacuumedSecondsAgo: number | null;
}

const tablesSql = `select case n.nspname when 'public' then '' else n.nspname || '.' end || root.relname as table,
    sum(pg_total_relation_size(c.oid))::bigint as bytes, sum(pg_indexes_size(c.oid))::bigint as index_bytes,
    sum(case when c.reltuples < 0 then coalesce(s.n_live_tup, 0) else c.reltuples end)::bigint as rows,
    sum(coalesce(s.n_dead_tup, 0))::bigint as dead_rows,
    extract(epoch from clock_timestamp() - max(greatest(s.last_vacuum, s.last_autovacuum)))::int as vacuumed_seconds_ago
  from pg_class c join pg_class root on root.oid = coalesce(pg_partition_root(c.oid), c.oid)
    join pg_namespace n on n.oid = root.relnamespace left join pg_stat_all_tables s on s.relid = c.oid
  where c.relkind = 'r' and n.nspname in ('public', 'background')
  group by n.nspname, root.relname order by bytes desc, 1`;

/** The largest tables, and the sum of all other tables. */
export async function readTables(
  limit: number,
): Promise<{ tables: TableSize[]; otherTables: number; otherBytes: number }> {
  const all = await sql<TableSize>(tablesSql);
  const others = all.slice(limit);
  const otherBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
  return { tables: all.slice(0, limit), otherTables: others.length, otherBytes };
}

/** Prefix of the names of connections of the service, followed by its version, process and host. */
export const serviceName = 'aep/';

export interface DatabaseClient {
  /** Version and process of the service; null for another program. */
  version: string | null;
  process: string | null;
  name: string;
  address: string | null;
  connections: number;
  active: number;
  connectedSeconds: number;
}

const clientsSql = `select application_name as name, host(client_addr) as address, count(*)::int as connections,
    count(*) filter (where state <> 'idle')::int as active,
    extract(epoch from clock_timestamp() - min(backend_start))::int as connected_seconds
  from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
  group by 1, 2 order by application_name like '${serviceName}%' desc, 1, 2 limit $1`;
const ofService = new RegExp(`^${serviceName}(\\S+) (\\d+@.*)$`);

/** The processes of the service and other programs that are connected to the database. */
export async function readClients(limit: number): Promise<DatabaseClient[]> {
  const found = await sql<Omit<DatabaseClient, 'version' | 'process'>>(clientsSql, [limit]);
  return found.map((client) => {
    const [, version = null, process = null] = ofService.exec(client.name) ?? [];
    return { version, process, ...client };
  });
}

const otherReleaseSql = `select 1 from pg_stat_activity where datname = current_database() and application_name like '${serviceName}%'
  and split_part(application_name, ' ', 1) <> split_part(current_setting('application_name'), ' ', 1) limit 1`;

/** Whether a process of another release of the service is connected. */
export const isOtherReleaseConnected = async (): Promise<boolean> => (await sql(otherReleaseSql)).length > 0;

export interface DatabaseReplica {
  name: string;
  address: string | null;
  state: string | null;
  syncState: string | null;
  /** Bytes that the standby has not replayed; null when the role of the service is not allowed to see the number. */
  lagBytes: number | null;
  lagSeconds: number | null;
}

const replicasSql = `select application_name as name, host(client_addr) as address, state, sync_state,
    (case when pg_is_in_recovery() then null else pg_current_wal_lsn() end - replay_lsn)::bigint as lag_bytes,
    extract(epoch from replay_lag)::float8 as lag_seconds
  from pg_stat_replication order by 1, 2 limit $1`;

/** The standbys that are connected to the primary. */
export const readReplicas = (limit: number): Promise<DatabaseReplica[]> => sql<DatabaseReplica>(replicasSql, [limit]);

export interface RunningStatement {
  pid: number;
  client: string;
  state: string;
  /** The event that the statement waits for, such as `Lock: transactionid`; null while the statement is being executed. */
  waitsFor: string | null;
  statementSeconds: number;
  transactionSeconds: number | null;
  statement: string;
}

const shownCharacters = 400;
const textOf = (query: string): string =>
  `left(regexp_replace(left(${query}, 2000), '\\s+', ' ', 'g'), ${shownCharacters}) as statement`;

// Shorter statements (below a second) and transactions (below five) are normal and not listed.
const runningSql = `select pid, application_name as client, state,
    case when state = 'active' then wait_event_type || ': ' || wait_event end as waits_for,
    extract(epoch from clock_timestamp() - query_start)::float8 as statement_seconds,
    extract(epoch from clock_timestamp() - xact_start)::float8 as transaction_seconds, ${textOf('query')}
  from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    and (state = 'active' and query_start < clock_timestamp() - interval '1 second'
      or state <> 'idle' and xact_start < clock_timestamp() - interval '5 seconds')
  order by coalesce(xact_start, query_start) limit $1`;

/** Statements and transactions that have been running for a long time. */
export const readRunningStatements = async (limit: number): Promise<RunningStatement[]> =>
  masked(await sql<RunningStatement>(runningSql, [limit]));

export interface CostlyStatement {
  calls: number;
  totalMs: number;
  meanMs: number;
  maxMs: number;
  rows: number;
  statement: string;
}

const extensionSql = `select format('%I.pg_stat_statements', n.nspname) as view
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements'`;

/** The statements that took most time since the statistics were reset; null without the extension pg_stat_statements. */
export async function readCostlyStatements(limit: number): Promise<CostlyStatement[] | null> {
  const [extension] = await sql<{ view: string }>(extensionSql);
  if (!extension) return null;
  const costlySql = `select calls, total_exec_time as total_ms, mean_exec_time as mean_ms, max_exec_time as max_ms, rows,
      ${textOf('query')} from ${extension.view}
    where dbid = (select oid from pg_database where datname = current_database()) order by total_exec_time desc limit $1`;
  return masked(await sql<CostlyStatement>(costlySql, [limit]));
}

/** Removes secrets from the statements: other programs that use the database may write values into theirs. */
const masked = <T extends { statement: string }>(rows: T[]): T[] =>
  rows.map((row) => ({ ...row, statement: redact(row.statement) }));
