-- The inbox reads the newest failures and changes to review of an organization, and its events that wait.
-- up
create index concurrently if not exists runs_inbox_failures on runs (org_id, finished_at) where status = 'failed' and rerun_as is null;
create index concurrently if not exists runs_inbox_reviews on runs (org_id, finished_at)
  where status = 'completed' and head_sha is not null and (pr_state is null or pr_state = 'open');
create index concurrently if not exists inbound_deliveries_waiting on inbound_deliveries (org_id, received_at) where status = 'waiting';
-- down
drop index inbound_deliveries_waiting;
drop index runs_inbox_reviews;
drop index runs_inbox_failures;
