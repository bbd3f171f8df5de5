-- Recordings of missions: with the consent of an organization, the model and tool calls of its missions are kept, encrypted with a key of
-- the organization (docs/recordings.md).
-- up
create table recording_settings (
  org_id text collate "C" primary key references organizations on delete cascade,
  is_enabled boolean not null,
  -- Days that a recording is kept.
  days integer not null
);
create trigger recording_settings_audit_created after insert on recording_settings
  for each row execute function record_audit_change('org_id');
create trigger recording_settings_audit_updated after update on recording_settings
  for each row when (old.* is distinct from new.*) execute function record_audit_change('org_id');

create table recording_keys (
  org_id text collate "C" primary key references organizations on delete cascade,
  -- A data key, sealed with the service key. Without it no recording of the organization can be read.
  sealed_key text not null
);

-- The calls of a mission since the previous part. Runs are deleted with their project alone.
create table recording_parts (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null,
  run_id text collate "C" not null,
  content_key text collate "C" not null,
  calls integer not null,
  -- Calls among them whose content exceeds the bounds.
  omitted integer not null,
  -- Size of the lines, before compression and encryption.
  size_bytes bigint not null,
  created_at bigint not null,
  unique (content_key),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index recording_parts_run on recording_parts (run_id, created_at, id);
create index recording_parts_age on recording_parts (org_id, created_at);
create index recording_parts_project on recording_parts (org_id, project_id);
-- down
drop table recording_parts;
drop table recording_keys;
drop table recording_settings;
