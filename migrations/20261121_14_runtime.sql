-- What a runtime needs: the runs that wait for one, which of them it holds, and what it reports about them.
-- up
alter table runs
  -- Made anew with every taking: whoever shows another one has lost the run.
  add column lease_id text,
  -- How often a runtime took it and was not heard of again.
  add column claims integer not null default 0,
  add column started_at bigint,
  add column finished_at bigint,
  add constraint runs_lease check (status <> 'running' or num_nonnulls(lease_id, lease_until) = 2);
create index runs_waiting on runs (created_at, id) where status = 'dispatching' and issue_id is not null;
create unique index runs_lease_held on runs (lease_id) where status = 'running';
create index runs_held on runs (lease_until) where status = 'running';
create index runs_open on runs (org_id, created_at desc, id desc) where status in ('dispatching', 'running');

alter table sandboxes
  -- The lease under which it was registered: its reports carry it.
  add column lease_id text,
  add constraint sandboxes_run foreign key (run_id) references runs on delete set null;
create index environments_expiry on environments (expires_at) where status in ('provisioning', 'active', 'destroying');
create index sandboxes_timeout on sandboxes (timeout_at) where status = 'running';

-- A single call of a model costs less than a hundredth of a cent: what is summed up must not be rounded before.
alter table mission_costs alter column usd type numeric(14, 6);
alter table sandbox_sessions alter column total_cost_usd type numeric(14, 6);

-- Whose runtime asked to upload it; null for what is kept by the service itself.
alter table stored_contents
  add column org_id text references organizations on delete set null,
  -- Somebody is sending it, and has given a sign of life: until then nobody else may. Null once all of it is there.
  add column uploading_until bigint,
  add constraint stored_contents_upload check (size_bytes is null or uploading_until is null);
create index stored_contents_org on stored_contents (org_id);
-- down
drop index stored_contents_org;
alter table stored_contents drop column org_id, drop column uploading_until;
alter table sandbox_sessions alter column total_cost_usd type numeric(12, 4);
alter table mission_costs alter column usd type numeric(12, 4);
drop index sandboxes_timeout, environments_expiry;
alter table sandboxes drop constraint sandboxes_run, drop column lease_id;
drop index runs_open, runs_held, runs_lease_held, runs_waiting;
alter table runs drop constraint runs_lease, drop column lease_id, drop column claims, drop column started_at, drop column finished_at;
