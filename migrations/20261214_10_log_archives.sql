-- Logs and fragments of ended runs are moved to the storage, in archives of compressed blocks (docs/decisions/0081-logs-are-archived.md).
-- up
create table log_archives (
  org_id text collate "C" not null references organizations on delete cascade,
  run_id text collate "C" not null,
  -- Position among the archives of the run, from 0.
  number integer not null,
  project_id text collate "C" not null,
  content_key text collate "C" not null,
  size_bytes bigint not null,
  -- The compressed directory of the blocks is at the end of the content.
  directory_bytes integer not null,
  directory_sha256 text not null,
  -- When the run ended.
  ended_at bigint not null,
  created_at bigint not null,
  primary key (org_id, run_id, number),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index log_archives_project on log_archives (org_id, project_id);
create index log_archives_age on log_archives (org_id, ended_at);

-- While an archive exists, its content has no row in stored_contents, so that no sweep, not even one of the previous release, removes it.
-- When the archive is deleted, also with its project or organization, the content is left to the sweep.
create function release_archive_content() returns trigger language plpgsql as $$
begin
  insert into stored_contents (key, created_at, size_bytes) values (old.content_key, 0, old.size_bytes) on conflict do nothing;
  return null;
end $$;
create trigger log_archives_release_content after delete on log_archives for each row execute function release_archive_content();

-- The logs of a session that were moved.
alter table sandbox_sessions add column archived_parts text[];

-- Ended runs whose logs are still in the database.
create table unarchived_runs (
  org_id text collate "C" not null references organizations on delete cascade,
  run_id text collate "C" not null,
  ended_at bigint not null,
  -- The process that moves them; null or past: none.
  claimed_until bigint,
  primary key (org_id, run_id)
);
create index unarchived_runs_ended on unarchived_runs (ended_at);

create function enqueue_archive() returns trigger language plpgsql as $$
begin
  insert into unarchived_runs (org_id, run_id, ended_at) values (new.org_id, new.id, new.finished_at) on conflict do nothing;
  return null;
end $$;
create trigger runs_insert_unarchived after insert on runs
  for each row when (new.finished_at is not null) execute function enqueue_archive();
create trigger runs_end_unarchived after update of finished_at on runs
  for each row when (old.finished_at is null and new.finished_at is not null) execute function enqueue_archive();
-- down
do $$ begin
  if exists (select from log_archives) then
    raise exception 'logs are archived: "admin logs:restore" moves them back into the database';
  end if;
end $$;
drop trigger runs_end_unarchived on runs;
drop trigger runs_insert_unarchived on runs;
drop function enqueue_archive;
drop table unarchived_runs;
alter table sandbox_sessions drop column archived_parts;
drop table log_archives;
drop function release_archive_content;
