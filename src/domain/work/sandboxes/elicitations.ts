// The questions that agents ask people: fragments of the kind `elicitation`.
import { sql, type Transaction } from '#foundation/postgres/database.ts';

const findSql = `select f.sandbox_id, f.seq from sandboxes s join sandbox_fragments f on f.sandbox_id = s.id
  where s.run_id = $1 and f.kind = 'elicitation' and ($2::text is null or s.id = $2) and ($3::int is null or f.seq = $3)
  order by f.at desc, f.seq desc limit 1`;

/** The newest question in the sandboxes of the run, limited to the given sandbox and position. */
export async function findElicitation(
  trx: Transaction,
  runId: string,
  { sandboxId, seq }: { sandboxId?: string | null | undefined; seq?: number | null | undefined },
): Promise<{ sandboxId: string; seq: number } | undefined> {
  const values = [runId, sandboxId ?? null, seq ?? null];
  return (await sql<{ sandboxId: string; seq: number }>(findSql, values, trx))[0];
}

/** SQL for the open questions of a run, given its alias: the agent has done nothing since. */
export const questionsSql = (run: string): string =>
  `select coalesce(f.body, '') as text, f.at from sandboxes s cross join lateral (
    select kind, body, at from sandbox_fragments where sandbox_id = s.id order by seq desc limit 1
  ) f where s.run_id = ${run}.id and s.status = 'running' and f.kind = 'elicitation'`;
