// The part of retention that concerns forks of missions.
import { sql, type Transaction } from '#foundation/postgres/database.ts';

/** SQL query for the forks of a run. @param run Alias of a run */
export const forksOfSql = (run: string): string => `select f.run_id from run_forks f where f.source_run_id = ${run}.id`;

const shortenSql = `update run_forks set prompt = null, agent = agent || '{"userPrompt": null, "skillRepos": []}'
  where org_id = $1 and run_id = any($2)`;

/** Deletes the message to the agent and the agent's instructions that were stored when these runs were started as forks. */
export const shortenForks = async (trx: Transaction, orgId: string, runIds: readonly string[]): Promise<void> => {
  await sql(shortenSql, [orgId, runIds], trx);
};
