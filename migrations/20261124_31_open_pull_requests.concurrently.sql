-- The pull requests that are followed.
-- up
create index concurrently if not exists runs_open_pull_requests on runs (pr_check_at) where pr_state = 'open';
-- down
drop index runs_open_pull_requests;
