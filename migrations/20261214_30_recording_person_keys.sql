-- Recordings are encrypted with a key of the organization and the keys of the people whose missions they contain. Erasing a person destroys
-- their key, also for copies of the storage (docs/decisions/0069-recordings-are-encrypted-by-the-runtime.md).
-- up
create table recording_person_keys (
  org_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null,
  -- 32 bytes, sealed with the service key.
  sealed_key text not null,
  primary key (org_id, user_id)
);
-- The people whose keys encrypt the part; empty for older parts.
alter table recording_parts add column person_ids text[] collate "C" not null default '{}';
-- down
alter table recording_parts drop column person_ids;
drop table recording_person_keys;
