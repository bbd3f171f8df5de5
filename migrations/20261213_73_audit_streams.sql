-- The audit log of an organization is sent to a destination of its own, at least once, by the numbers of the log.
-- up
create table audit_streams (
  org_id text collate "C" primary key references organizations on delete cascade,
  -- An https address, or s3://bucket/prefix.
  address text not null,
  sealed_secret text not null,
  created_at bigint not null,
  -- A delivery that began before the last change advances nothing.
  updated_at bigint not null,
  -- The last entry, and the hour of the last checkpoint, that the destination has accepted.
  last_number bigint not null,
  last_checkpoint_hour integer not null,
  delivered_at bigint,
  failing_since bigint,
  failures integer not null default 0,
  last_error text,
  -- No delivery begins before: the end of the lease of a running one, or of the delay after a failure.
  due_at bigint not null default 0
);
create index audit_streams_due on audit_streams (due_at);
create trigger audit_streams_audit_created after insert on audit_streams
  for each row execute function record_audit_change('org_id');
create trigger audit_streams_audit_updated after update of address, sealed_secret on audit_streams
  for each row when ((old.address, old.sealed_secret) is distinct from (new.address, new.sealed_secret))
  execute function record_audit_change('org_id');
create trigger audit_streams_audit_deleted after delete on audit_streams
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
select background.create_queue('audit stream', '{"policy": "standard"}');
-- down
select background.delete_queue('audit stream');
drop table audit_streams;
