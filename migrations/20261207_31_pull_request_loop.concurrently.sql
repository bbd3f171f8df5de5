-- Events name a pull request by its number or its branch.
-- up
create index concurrently if not exists runs_pull_request on runs (project_id, pr_number) where pr_number is not null;
create index concurrently if not exists runs_branch on runs (project_id, branch) where branch is not null;
-- down
drop index runs_pull_request, runs_branch;
