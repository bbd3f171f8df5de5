-- The calls of runs without details, which their attestations count: compressed, one row for each run.
-- up
create table run_call_archives (
  org_id text collate "C" not null references organizations on delete cascade,
  run_id text collate "C" not null,
  project_id text collate "C" not null,
  -- JSON of `[kind, entry]` of each call in order, compressed with Brotli.
  content bytea not null,
  primary key (org_id, run_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
alter table run_call_archives alter column content set storage external;
create index run_call_archives_project on run_call_archives (org_id, project_id);
-- down
do $$ begin
  if exists (select from run_call_archives) then
    raise exception 'calls that attestations count are archived, and an earlier release cannot read them';
  end if;
end $$;
drop table run_call_archives;
