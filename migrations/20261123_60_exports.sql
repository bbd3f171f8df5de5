-- The data of a closed organization as one archive in the storage, when an owner asks for it.
-- up
create table org_exports (
  org_id text collate "C" primary key references organizations on delete cascade,
  status text not null check (status in ('preparing', 'ready', 'failed')),
  requested_at bigint not null,
  -- Of the archive in the storage; each try writes to another one.
  content_key text,
  size_bytes bigint,
  -- When the archive was complete.
  finished_at bigint,
  -- Why the last try failed.
  failure text,
  check (status <> 'ready' or (content_key is not null and size_bytes is not null and finished_at is not null))
);
select background.create_queue('export organization', '{"policy": "standard"}');
-- down
select background.delete_queue('export organization');
drop table org_exports;
