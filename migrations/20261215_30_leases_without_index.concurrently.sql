-- A renewed lease writes no index: no index has the end of the lease, and pages keep room for the next version of a row. Expired leases are
-- found among the running runs, which are few beside those that have ended.
-- up
create index concurrently if not exists runs_without_issue on runs (id) where status = 'dispatching' and issue_id is null;
drop index concurrently if exists runs_undelivered;
drop index concurrently if exists runs_held;
alter table runs set (fillfactor = 85);
-- down
alter table runs reset (fillfactor);
create index runs_held on runs (lease_until) where status = 'running';
create index runs_undelivered on runs (lease_until) where status = 'dispatching' and issue_id is null;
drop index runs_without_issue;
