-- Scheduled backups of the embedded database: the latest attempts, for operators. The backups themselves are where BACKUP_URL leads.
-- up
create table database_backups (
  name text primary key,
  started_at bigint not null,
  -- Null while the backup is being written.
  ended_at bigint,
  size_bytes bigint,
  -- Why it failed; null when it is complete or being written.
  error text,
  check (error is null or ended_at is not null)
);
create index database_backups_started on database_backups (started_at);
-- down
drop table database_backups;
