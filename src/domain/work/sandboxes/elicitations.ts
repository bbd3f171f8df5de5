// The questions that agents ask people. A question is a fragment of the kind `elicitation`. If the fragment has an `action`, the question is whether
// the agent may call the tool that `action` names.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';

export interface Elicitation {
  sandboxId: string;
  seq: number;
  text: string;
  choices: string[] | null;
  /** The tool whose call needs a decision, and the arguments of the call; null for any other question. */
  tool: string | null;
  arguments: string | null;
  at: number;
}

const columns = `f.sandbox_id, f.seq, coalesce(f.body, '') as text, f.choices, f.action as tool, f.parameter as arguments, f.at`;

// SQL condition: the question no longer waits. A question with an id ends when a fragment reports its end under that id; one without an id
// ends when the agent continues.
const isOver = `exists (select from sandbox_fragments l where l.sandbox_id = f.sandbox_id and l.seq > f.seq
  and (f.tool_use_id is null or l.tool_use_id = f.tool_use_id))`;

const findSql = `select sandbox_id, seq, text, choices, tool, arguments, at, is_over,
    count(*) filter (where is_open) over ()::int as open_count from (
    select ${columns}, o.is_over, not o.is_over and not exists (select from unnest($4::text[], $5::int[]) a (id, seq)
      where a.id = f.sandbox_id and a.seq = f.seq) as is_open
    from sandboxes s join sandbox_fragments f on f.sandbox_id = s.id
      cross join lateral (select s.status <> 'running' or ${isOver} as is_over) o
    where s.run_id = $1 and f.kind = 'elicitation' and ($2::text is null or s.id = $2) and ($3::int is null or f.seq = $3)
  ) q order by is_open desc, at desc, seq desc limit 1`;

export interface FoundElicitation extends Elicitation {
  /** Whether the question no longer waits, because the agent has an answer or continues without one. */
  isOver: boolean;
  /** Number of questions that wait for an answer. */
  openCount: number;
}

/**
 * The newest question in the sandboxes of the run, optionally only in the given sandbox and position. A question that waits for an answer
 * comes first.
 * @param answered Positions of questions that have an answer
 */
export async function findElicitation(
  trx: Transaction,
  runId: string,
  { sandboxId, seq }: { sandboxId?: string | null | undefined; seq?: number | null | undefined },
  answered: readonly { sandboxId: string | null; fragmentSeq: number | null }[],
): Promise<FoundElicitation | undefined> {
  const positions = [answered.map((one) => one.sandboxId), answered.map((one) => one.fragmentSeq)];
  const values = [runId, sandboxId ?? null, seq ?? null, ...positions];
  return (await sql<FoundElicitation>(findSql, values, trx))[0];
}

/** SQL for the questions of a run that wait for an answer. @param run The alias of the run */
export const questionsSql = (run: string): string =>
  `select ${columns} from sandboxes s join sandbox_fragments f on f.sandbox_id = s.id and f.kind = 'elicitation'
  where s.run_id = ${reference(`${run}.id`)} and s.status = 'running' and not ${isOver}`;

/** SQL for the question that a message answers, given the alias of the message. */
export const answeredSql = (message: string): string =>
  `select f.body as question, f.tool_use_id as question_id, f.action, f.parameter, s.lease_id
  from sandbox_fragments f join sandboxes s on s.id = f.sandbox_id
  where f.sandbox_id = ${message}.sandbox_id and f.seq = ${message}.fragment_seq`;
