// The texts of a run's sandboxes, for the search of runs by words.
import { reference } from '#foundation/postgres/reads.ts';

/**
 * Three limits in characters: the length of one piece, of the whole transcript, and of all logs together. The oldest pieces are left out.
 */
const max = { piece: 2_000, transcript: 150_000, logs: 100_000 } as const;
const piece = (column: string): string => `left(${column}, ${max.piece})`;
const members = ['body', 'action', 'parameter', 'result'].map(piece).join(', ');

/** SQL query for the newest part of the transcript. @param run SQL expression for the id of the run */
export const transcriptOfRunSql = (run: string): string =>
  `select left(string_agg(concat_ws(' ', ${members}), ' '), ${max.transcript}) from (
    select f.body, f.action, f.parameter, f.result from sandboxes s join sandbox_fragments f on f.sandbox_id = s.id
    where s.run_id = ${reference(run)} order by f.at desc, f.seq desc limit 500) f`;

/** SQL query for the newest part of the logs. */
export const logsOfRunSql = (run: string): string =>
  `select left(string_agg(${piece('content')}, ' '), ${max.logs}) from (
    select p.content from sandboxes s join sandbox_log_parts p on p.sandbox_id = s.id and p.part in ('session', 'system')
    where s.run_id = ${reference(run)} order by p.appended_at desc nulls last, p.seq desc limit 200) p`;
