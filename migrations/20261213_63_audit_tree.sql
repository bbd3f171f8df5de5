-- The Merkle tree of each audit log and its signed checkpoints (docs/decisions/0064-a-merkle-tree-per-log.md).
-- up
alter table audit_counters
  -- Entries in the tree: the first ones, up to `last_number`.
  add column tree_size bigint not null default 0,
  -- The oldest entry that the retention has kept.
  add column first_number bigint not null default 1;
update audit_counters c set first_number = coalesce((select min(number) from audit_events e where e.org_id = c.org_id), 1);
create index audit_counters_outside_tree on audit_counters (org_id) where tree_size < last_number;

-- Hashes of 256 leaves or of 256 full tiles of the level below, 32 bytes each (the layout of C2SP tlog-tiles). They outlive their events.
create table audit_tiles (
  org_id text collate "C" not null references organizations on delete cascade,
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  primary key (org_id, level, index)
);
alter table audit_tiles alter column hashes set storage external;

create table audit_keys (
  id text primary key,
  algorithm text not null,
  -- Base64.
  public_key text not null,
  sealed_private_key text not null,
  created_at bigint not null,
  retired_at bigint
);
create unique index audit_keys_active on audit_keys ((true)) where retired_at is null;

create table audit_checkpoints (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  created_at bigint not null,
  -- The hour since 1970.
  hour integer not null,
  size bigint not null,
  -- Base64.
  root_hash text not null,
  algorithm text not null,
  key_id text not null references audit_keys,
  -- The signed text.
  note text not null,
  unique (org_id, hour)
);
create index audit_checkpoints_org on audit_checkpoints (org_id, created_at desc, id desc);
-- down
drop table audit_checkpoints;
drop table audit_keys;
drop table audit_tiles;
drop index audit_counters_outside_tree;
alter table audit_counters drop column first_number;
alter table audit_counters drop column tree_size;
