-- Indexes for claims that serve the organization with the fewest running runs first.
-- up
create index concurrently if not exists runs_waiting_organization on runs (org_id, created_at, id)
  where status = 'dispatching' and issue_id is not null;
create index concurrently if not exists runs_running_organization on runs (org_id) where status = 'running';
-- down
drop index runs_running_organization, runs_waiting_organization;
