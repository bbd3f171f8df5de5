// Runs whose details were deleted because the retention period of their organization has ended. The record of such a run remains, and contains
// figures that were computed from the details before these were deleted (docs/decisions/0089-runs-keep-their-result.md).
import { isoTime, now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { latestOutput } from './attempts.ts';
import type { KeptFigures } from './kept-figures.ts';
import type { Run } from './model.ts';

/** @throws 409 for a run whose details were deleted */
export function requireDetails({ kept }: Pick<Run, 'kept'>): void {
  if (kept)
    throw conflict(
      `The details of the run were deleted on ${isoTime(kept.deletedAt).slice(0, 10)}, when the organization's retention period ended: the run ` +
        'can only be started again from its beginning.',
    );
}

/** SQL expressions for the figures, by name. The figures are computed from the details before the details are deleted. */
const computed: Record<Exclude<keyof KeptFigures, 'deletedAt' | 'retentionDays'>, string> = {
  steps: 'steps.count',
  inputTokens: 'steps.input_tokens',
  cachedInputTokens: 'steps.cached_input_tokens',
  cacheWriteTokens: 'steps.cache_write_tokens',
  outputTokens: 'steps.output_tokens',
  messages: `(select count(*) from run_messages m
    where m.run_id = r.id and m.kind in ('message', 'answer') and m.author_user_id is not null)`,
  review: `${latestOutput('reviewer')} ->> 'verdict'`,
  isTestPassed: `(${latestOutput('qa')} ->> 'passed')::boolean`,
};
const members = Object.entries(computed).map(([name, value]) => `'${name}', ${value}`);

// Instructions of the agents are not kept with each run, because the versions of the agents contain them.
const keepSql = `update runs r set changed_paths = null, pull_request_draft = null,
    team = (select jsonb_agg(agent || '{"userPrompt": null, "skillRepos": []}' order by place)
      from jsonb_array_elements(r.team) with ordinality t (agent, place)),
    kept = (select jsonb_build_object('deletedAt', $2::bigint, 'retentionDays', $3::integer, ${members.join(', ')})
      from (select count(*) as count, coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(cached_input_tokens), 0) as cached_input_tokens,
        coalesce(sum(cache_write_tokens), 0) as cache_write_tokens, coalesce(sum(output_tokens), 0) as output_tokens
        from run_steps where run_id = r.id) steps)
  where id = any($1) and kept is null returning id`;

/** Keeps the figures of runs whose details are about to be deleted; the caller has locked the runs. */
export const keepFigures = async (
  trx: Transaction,
  runIds: readonly string[],
  retentionDays: number,
): Promise<void> => {
  await sql(keepSql, [runIds, now(), retentionDays], trx);
};
