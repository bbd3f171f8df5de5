-- Inbound events: hooks that take them, deliveries with what became of them, and the events that recurring missions start on.
-- up
create table inbound_hooks (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  name text not null,
  vendor text not null check (vendor in ('github', 'webhook')),
  signature text not null check (signature in ('github', 'standard', 'header')),
  signature_header text check ((signature = 'header') = (signature_header is not null)),
  sealed_secret text not null,
  created_by_user_id text references people on delete set null,
  last_delivery_at bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index inbound_hooks_organization on inbound_hooks (org_id, created_at desc, id desc);

create table inbound_deliveries (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  hook_id text collate "C" not null references inbound_hooks on delete cascade,
  external_id text not null,
  event text not null,
  title text,
  payload text,
  status text not null check (status in ('received', 'started', 'waiting', 'ignored', 'failed')),
  reason text,
  outcomes jsonb not null default '[]',
  redelivery_of text,
  received_at bigint not null,
  processed_at bigint,
  created_at bigint not null,
  unique (hook_id, external_id)
);
create index inbound_deliveries_organization on inbound_deliveries (org_id, created_at desc, id desc);
create index inbound_deliveries_hook on inbound_deliveries (hook_id, created_at desc, id desc);
create index inbound_deliveries_age on inbound_deliveries (received_at);

-- An event with a key starts a recurring mission once.
create table inbound_keys (
  recurring_id text not null references recurring_missions on delete cascade,
  key text not null,
  run_id text,
  created_at bigint not null,
  primary key (recurring_id, key)
);
create index inbound_keys_age on inbound_keys (created_at);

-- Beside `triggers`, which the previous release reads as schedules.
alter table recurring_missions add column event_triggers jsonb not null default '[]';
create index recurring_missions_events on recurring_missions (org_id) where event_triggers <> '[]' and enabled;
-- Only a mission with a schedule is ever due. The rows that are there met a stronger check.
alter table recurring_missions drop constraint recurring_missions_check,
  add constraint recurring_missions_due check (
    enabled = (next_run_at is not null) or (enabled and triggers = '[]' and event_triggers <> '[]')) not valid;
select background.create_queue('inbound event', '{"policy": "standard"}');
-- down
select background.delete_queue('inbound event');
delete from recurring_missions where triggers = '[]';
alter table recurring_missions drop constraint recurring_missions_due,
  add constraint recurring_missions_check check (enabled = (next_run_at is not null));
drop index recurring_missions_events;
alter table recurring_missions drop column event_triggers;
drop table inbound_keys;
drop table inbound_deliveries;
drop table inbound_hooks;
