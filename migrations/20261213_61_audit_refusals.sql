-- Refusals are counted by hour, kind and credential or person: the audit log gets the first ones, and the number of the others.
-- up
create table audit_refusals (
  org_id text collate "C" not null,
  kind text not null,
  actor_id text collate "C" not null,
  -- The hour since 1970.
  hour integer not null,
  count integer not null,
  primary key (hour, org_id, kind, actor_id)
);
-- down
drop table audit_refusals;
