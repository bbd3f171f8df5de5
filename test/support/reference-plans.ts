// Finds statements that cannot use the index of a column that refers to an id. Ids have the collation "C", but most columns that refer to
// them have the default collation. PostgreSQL compares the two by "C", so it cannot use the index of the column unless the statement adds the
// default collation to the id (`reference` in foundation/postgres/reads.ts). Without the index, it reads the whole table for each id.
import pg from 'pg';
import { freshDatabase } from './database.ts';
import { newStatements } from './watched-statements.ts';

interface Plan {
  'Relation Name'?: string;
  Alias?: string;
  Filter?: string;
  'Join Filter'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

/**
 * Whether the statement may compare columns of two tables. Statements that begin with `with ran`, `select 1 as missing` or `select '…' as
 * name` are left out: the first are part of a migration, which nobody may change; the second look up an id for each reference on purpose
 * (domain/lifecycle/organization-files/verify.ts); the third are hundreds of statements of tests that read whole tables (database-rows.ts).
 */
const mayJoin = (text: string): boolean =>
  /^\s*(with(?! ran)|select(?! 1 as missing| '[\w.]+' as name)|update|delete|insert)\b/i.test(text) &&
  (text.match(/\bfrom\b|\bjoin\b|\busing\b/gi) ?? []).length > 1;

let explaining: ReturnType<typeof open> | undefined;

/** A database without rows, whose planner uses an index wherever it can, and the collation of each column that an index begins with. */
async function open() {
  const { connection } = await freshDatabase();
  const options = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material', 'memoize', 'sort'].map(
    (name) => `-c enable_${name}=off`,
  );
  const pool = new pg.Pool({
    ...connection,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    options: options.join(' '),
  });
  const { rows } = await pool.query(`select t.relname || '.' || a.attname as column, l.collname as collation
    from pg_index i join pg_class t on t.oid = i.indrelid and t.relnamespace = 'public'::regnamespace
      join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0] join pg_collation l on l.oid = a.attcollation`);
  return { pool, collations: new Map(rows.map(({ column, collation }) => [column, collation])) };
}

/** The statements of this worker since the last call that cannot use such an index, each after the comparison that is the cause. */
export async function unusedIndexes(): Promise<string[]> {
  const found: string[] = [];
  for (const text of newStatements().filter(mayJoin)) {
    explaining ??= open();
    const { pool, collations } = await explaining;
    const plan = await pool.query(`explain (verbose, generic_plan, format json) ${text}`).then(
      ({ rows }) => rows?.[0]['QUERY PLAN'][0].Plan as Plan | undefined,
      () => null,
    );
    if (plan)
      found.push(
        ...comparisonsOf(plan, collations).map((comparison) => `${comparison} in: ${text.replace(/\s+/g, ' ')}`),
      );
  }
  return found;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
/** A comparison of two columns. The plan shows a column that is compared with another collation than its own as `(table.column)::text`. */
const comparison = /\(?(\w+)\.(\w+)(\)::text)? = \(?(\w+)\.(\w+)(\)::text)?/g;

/**
 * The comparisons of an id with a column that refers to it, for which the plan reads the whole table of the column. If the statement reads
 * that table on purpose and then looks up each id, the comparison is left out: no parameter selects rows of the table of the ids.
 */
function comparisonsOf(plan: Plan, collations: Map<string, string>): string[] {
  const nodes = nodesOf(plan);
  const scans = new Map(nodes.filter((node) => node.Alias).map((node) => [node.Alias!, node]));
  const found = new Set<string>();
  for (const node of nodes) {
    const condition = [node.Filter, node['Join Filter'], node['Index Cond']].join(' ');
    for (const [, ...names] of condition.matchAll(comparison)) {
      const [left, right] = [names.slice(0, 3), names.slice(3)] as [
        [string, string, string?],
        [string, string, string?],
      ];
      for (const [[alias, column], [other, otherColumn, namesCollation]] of [
        [left, right],
        [right, left],
      ] as const) {
        const [scan, from] = [scans.get(alias), scans.get(other)];
        if (!scan || !from || scan['Index Cond'] || namesCollation) continue;
        const isLookedUp = node === from && !/= \$\d/.test(`${from.Filter} ${from['Index Cond']}`);
        const [reference, id] = [`${scan['Relation Name']}.${column}`, `${from['Relation Name']}.${otherColumn}`];
        if (!isLookedUp && collations.get(reference) === 'default' && collations.get(id) === 'C')
          found.add(`${reference} = ${id}`);
      }
    }
  }
  return [...found];
}
