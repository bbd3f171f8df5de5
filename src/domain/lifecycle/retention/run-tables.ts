// Tables with rows about runs: those that are deleted with the details of a run, and those that are kept
// (docs/decisions/0089-runs-keep-their-result.md). A test compares both lists with the database, so that every new table is on one of them.

/** Tables whose rows are deleted by the column `run_id`. */
export const detailTables: readonly string[] = [
  ...['change_versions', 'checkpoints', 'connections', 'mcp_calls', 'model_calls', 'outside_effects', 'preparations'],
  ...['pull_request_remarks', 'run_messages', 'run_shares', 'run_steps', 'terminals'],
];

const ledger = 'the books of the organization';
const evidence = 'attestations can be verified forever';
const own = 'deleted by its noun, with what belongs to it';

/** Other tables with ids of runs, and the reason why each is not in the list above. */
export const otherTables: Readonly<Record<string, string>> = {
  a2a_messages: 'the task of the run, as a client has sent it; finds a repeated message',
  a2a_push_configs: 'an address of the client that has started the run',
  attempt_groups: 'the decision about the attempts',
  attestations: evidence,
  credit_entries: ledger,
  credit_exhaustions: ledger,
  credit_reviews: ledger,
  credit_transfers: ledger,
  inbound_keys: 'finds a repeated event of a rule',
  issue_comments: 'belongs to the issue',
  issues: 'belongs to the project',
  log_archives: own,
  mission_costs: ledger,
  mission_notices: 'deleted by its own retention',
  recording_parts: own,
  reviews: 'the verdicts; their texts are deleted',
  run_call_archives: evidence,
  run_calls: 'moved to run_call_archives if attestations count them',
  run_followers: 'what a person follows',
  run_forks: 'the origin of a fork; its message is deleted',
  run_texts: 'words of the title and the prompt; other words are deleted',
  sandboxes: own,
  unarchived_runs: own,
};
