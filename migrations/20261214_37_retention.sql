-- How long an organization keeps what its ended missions leave behind; null: until the project or the organization is deleted. Artifacts
-- expire after 90 days at the latest.
-- up
create table retention_settings (
  org_id text collate "C" primary key references organizations on delete cascade,
  log_days integer,
  artifact_days integer,
  sandbox_days integer
);
create trigger retention_settings_audit_created after insert on retention_settings
  for each row execute function record_audit_change('org_id');
create trigger retention_settings_audit_updated after update on retention_settings
  for each row when (old.* is distinct from new.*) execute function record_audit_change('org_id');

-- When the retention deleted the logs and the fragments of the sandbox.
alter table sandboxes add column logs_deleted_at bigint;
-- down
alter table sandboxes drop column logs_deleted_at;
drop table retention_settings;
