-- The branch that a run pushed to the repository of its project, and its pull request where the source host has them.
-- up
alter table runs
  add column branch text,
  add column base_branch text,
  add column head_sha text,
  add column pr_number integer,
  add column pr_url text,
  add column pr_state text,
  -- When the source host is asked next how the pull request is.
  add column pr_check_at bigint,
  add constraint runs_pr_state check (pr_state in ('open', 'merged', 'closed')) not valid;
-- down
alter table runs
  drop column branch,
  drop column base_branch,
  drop column head_sha,
  drop column pr_number,
  drop column pr_url,
  drop column pr_state,
  drop column pr_check_at;
