-- Events that wait until they are retried: for a place, for money, or until their source host takes requests.
-- up
create table inbound_retries (
  delivery_id text collate "C" primary key references inbound_deliveries on delete cascade,
  org_id text not null references organizations on delete cascade,
  -- The person who lets the event start missions that its author may not start; null means nobody had to.
  approved_by_user_id text collate "C" references people on delete set null,
  -- Whether it is retried as soon as the organization may start a mission.
  needs_place boolean not null,
  due_at bigint not null,
  received_at bigint not null
);
create index inbound_retries_due on inbound_retries (due_at);
create index inbound_retries_places on inbound_retries (org_id, received_at) where needs_place;
create index inbound_retries_approved_by on inbound_retries (approved_by_user_id);
-- down
drop table inbound_retries;
