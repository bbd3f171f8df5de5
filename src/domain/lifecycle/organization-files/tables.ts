// The tables whose rows are in an organization's file. They are read from the database's catalog, so that every new table is either in the
// file or explicitly left out with a reason (left-out.ts).

import { sendUnhurried } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { SignIn } from '../../identity/oauth/sign-ins.ts';
import { leftOut } from './left-out.ts';

export interface PackedTable {
  name: string;
  /** Columns that are copied: all except generated and identity columns. */
  columns: string[];
  /** Columns with JSON or arrays. */
  nested: string[];
  /** The identity column, which the database numbers; imported rows get new numbers in the same order. */
  identity: string | null;
  collations: Record<string, string>;
  keys: ForeignKey[];
}

interface ForeignKey {
  name: string;
  columns: string[];
  target: string;
  /** SQL condition that joins the row `t` of the target to the row `r`. */
  joins: string;
}

/**
 * For tables whose rows belong to an organization only through another record: the columns that refer to this record, each with the table
 * of the record.
 */
const ofRecord: Readonly<Record<string, readonly (readonly [column: string, table: string])[]>> = {
  access_tokens: [
    ['sign_in_id', 'sign_ins'],
    ['registration_id', 'agent_registrations'],
  ],
  refresh_tokens: [['sign_in_id', 'sign_ins']],
  chat_posts: [['thread_id', 'chat_threads']],
  credit_entries: [['transfer_id', 'credit_transfers']],
  inbound_keys: [['recurring_id', 'recurring_missions']],
  issue_counters: [['project_id', 'projects']],
  mcp_grants: [['binding_id', 'mcp_bindings']],
  pull_request_remarks: [['run_id', 'runs']],
  run_texts: [['run_id', 'runs']],
  runtime_harnesses: [['credential_id', 'service_tokens']],
  sandbox_fragments: [['sandbox_id', 'sandboxes']],
  sandbox_log_parts: [['sandbox_id', 'sandboxes']],
  sandbox_metrics: [['sandbox_id', 'sandboxes']],
  sandbox_sessions: [['sandbox_id', 'sandboxes']],
  terminal_pieces: [['terminal_id', 'terminals']],
};

/** Tables of the whole installation. A file contains only the rows to which records of its organization refer. */
export const sharedTables = ['people', 'oauth_clients'] as const;

const tablesSql = `select c.relname as name,
    array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.attidentity = '' order by a.attnum) as columns,
    array(select a.attname::text from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = c.oid and a.attnum > 0
      and not a.attisdropped and (t.typname in ('json', 'jsonb') or t.typcategory = 'A')) as nested,
    (select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attidentity <> '') as identity,
    coalesce((select json_object_agg(a.attname, l.collname) from pg_attribute a join pg_collation l on l.oid = a.attcollation
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '{}') as collations,
    coalesce((select json_agg(json_build_object('name', k.conname, 'target', k.confrelid::regclass::text,
        'columns', array(select a.attname from unnest(k.conkey) with ordinality n (num, place)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.num order by n.place),
        'joins', (select string_agg(format('t.%I = r.%I', p.attname, a.attname)
            || coalesce(format(' collate %I', l.collname), ''), ' and ' order by n.place)
          from unnest(k.conkey, k.confkey) with ordinality n (num, target, place)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.num
          join pg_attribute p on p.attrelid = k.confrelid and p.attnum = n.target
          left join pg_collation l on l.oid = p.attcollation)) order by k.conname)
      from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0), '[]') as keys
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`;

/**
 * All tables of the file. People come first, because their ids may be different in the installation that imports the organization.
 * @throws when a table neither belongs in the file nor is listed in `leftOut`
 */
export async function packedTables(trx: Transaction): Promise<PackedTable[]> {
  const all = await sendUnhurried<PackedTable>(trx, tablesSql);
  const tables = all.filter(({ name }) => !(name in leftOut));
  const unknown = tables.find((table) => !isOwned(table) && !isShared(table.name));
  if (unknown)
    throw new Error(`the table ${unknown.name} is neither included in organization files nor listed as left out`);
  const rank = ({ name }: PackedTable) => (isShared(name) ? sharedTables.indexOf(name) : sharedTables.length);
  return tables.sort((a, b) => rank(a) - rank(b));
}

const isShared = (name: string): name is (typeof sharedTables)[number] =>
  sharedTables.some((shared) => shared === name);

const isOwned = ({ name, columns }: PackedTable): boolean =>
  name === 'organizations' || name in ofRecord || columns.includes('org_id');

/** Query for the rows of an organization. @param columns The columns to read; by default, all columns that the file contains */
export function rowsOf(
  table: PackedTable,
  orgId: string,
  all: readonly PackedTable[],
  columns = table.columns,
): string {
  const order = table.identity === null ? '' : ` order by ${table.identity}`;
  return `select ${columns.map(quotedName).join(', ')} from ${table.name} where ${ownCondition(table, orgId, all)}${order}`;
}

/** Quotes a name from the database's catalog. Such names contain no quotation marks. */
export const quotedName = (name: string): string => `"${name}"`;

/** SQL condition on the rows of an organization. */
export function ownCondition(table: PackedTable, orgId: string, all: readonly PackedTable[]): string {
  const own = `org_id = ${literal(orgId)}`;
  const parent = ofRecord[table.name];
  if (table.name === 'organizations') return `id = ${literal(orgId)}`;
  if (table.name === 'people') return `id in (${peopleOf(orgId, all)})`;
  if (table.name === 'oauth_clients')
    return `id in (select client_id collate "C" from ${SignIn.tableName} where ${own})`;
  if (table.name === 'stored_contents')
    return `size_bytes is not null and (${own} or key in (${contentsOf(orgId, all)}))`;
  if (!parent) return own;
  const idsOf = (column: string, of: string) =>
    `select id collate ${quotedName(table.collations[column]!)} from ${of} where ${own}`;
  return parent.map(([column, of]) => `${column} in (${idsOf(column, of)})`).join(' or ');
}

/** People to whom records of the organization refer. */
const peopleOf = (orgId: string, all: readonly PackedTable[]): string =>
  all
    .filter((table) => !isShared(table.name))
    .flatMap((table) =>
      table.keys
        .filter(({ target }) => target === 'people')
        .map(
          ({ columns: [column] }) =>
            `select ${quotedName(column!)} collate "C" from ${table.name} where ${ownCondition(table, orgId, all)}`,
        ),
    )
    .join(' union ');

/** SQL query for the keys of all contents that are used by records of the organization, even if the service itself created the contents. */
const contentsOf = (orgId: string, all: readonly PackedTable[]): string =>
  all
    .filter(({ columns }) => columns.includes('content_key'))
    .map((table) => `select content_key collate "C" from ${table.name} where ${ownCondition(table, orgId, all)}`)
    .join(' union all ');

/** An id as an SQL literal, because COPY accepts no parameters. */
function literal(id: string): string {
  if (!/^\w{5,60}$/.test(id)) throw new Error(`${JSON.stringify(id)} is not an id`);
  return `'${id}'`;
}
