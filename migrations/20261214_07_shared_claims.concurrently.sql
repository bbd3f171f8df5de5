-- Claims of runtimes of all organizations count only missions on such runtimes.
-- up
create index concurrently if not exists runs_running_shared on runs (org_id) where status = 'running' and is_shared;
drop index concurrently if exists runs_running_organization;
-- down
create index if not exists runs_running_organization on runs (org_id) where status = 'running';
drop index runs_running_shared;
