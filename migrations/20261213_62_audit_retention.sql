-- How long the audit log of an organization is kept; null for the default. A change of it is an event.
-- up
alter table audit_counters add column retention_days integer;
create trigger audit_counters_audit_created after insert on audit_counters
  for each row when (new.retention_days is not null) execute function record_audit_change('org_id');
create trigger audit_counters_audit_updated after update of retention_days on audit_counters
  for each row when (old.retention_days is distinct from new.retention_days) execute function record_audit_change('org_id');
-- down
drop trigger audit_counters_audit_created on audit_counters;
drop trigger audit_counters_audit_updated on audit_counters;
alter table audit_counters drop column retention_days;
