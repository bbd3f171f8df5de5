-- Webhooks: endpoints that get the events of the audit log, and the deliveries to them.
-- up
create table webhook_endpoints (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  url text not null,
  types text[] not null,
  project_ids text[] not null,
  ordered boolean not null,
  disabled_at bigint,
  disabled_reason text check ((disabled_reason is null) = (disabled_at is null)),
  failing_since bigint,
  sealed_secret text not null,
  sealed_previous_secret text,
  previous_secret_until bigint,
  -- Events up to this number of the log have deliveries.
  last_number bigint not null,
  -- Until then, one worker sends to the endpoint, or nobody after a failure.
  claimed_until bigint not null default 0,
  created_by_user_id text references people on delete set null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (org_id, id)
);
create index webhook_endpoints_organization on webhook_endpoints (org_id, created_at desc, id desc);

create table webhook_deliveries (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  endpoint_id text collate "C" not null,
  number bigint not null,
  type text not null,
  status text not null,
  attempts integer not null,
  due_at bigint check ((status = 'pending') = (due_at is not null)),
  attempted_at bigint,
  duration_ms integer,
  body text not null,
  answer_status integer,
  answer_body text,
  error text,
  resend_of text,
  created_at bigint not null,
  foreign key (org_id, endpoint_id) references webhook_endpoints (org_id, id) on delete cascade
);
create unique index webhook_deliveries_event on webhook_deliveries (org_id, endpoint_id, number) where resend_of is null;
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at, number) where due_at is not null;
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, number, id) where due_at is not null;
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries_organization on webhook_deliveries (org_id, created_at desc, id desc);
create index webhook_deliveries_age on webhook_deliveries (created_at);

create trigger webhook_endpoints_audit_created after insert on webhook_endpoints
  for each row execute function record_audit_change('org_id');
create trigger webhook_endpoints_audit_updated after update of name, url, types, project_ids, ordered, disabled_at, sealed_secret on webhook_endpoints
  for each row when ((old.name, old.url, old.types, old.project_ids, old.ordered, old.disabled_at, old.sealed_secret)
    is distinct from (new.name, new.url, new.types, new.project_ids, new.ordered, new.disabled_at, new.sealed_secret))
  execute function record_audit_change('org_id');
create trigger webhook_endpoints_audit_deleted after delete on webhook_endpoints
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
-- down
drop table webhook_deliveries;
drop table webhook_endpoints;
