-- Forks of missions: a new mission whose first calls are answered from the recording of another one (docs/recordings.md).
-- up
-- Whether the present step of a fork is answered from the recording.
alter table runs add column is_replaying boolean not null default false;
create table run_forks (
  org_id text collate "C" not null references organizations on delete cascade,
  run_id text collate "C" not null,
  project_id text collate "C" not null,
  source_run_id text collate "C" not null,
  -- The step with the call, and its position; earlier steps are replayed as a whole.
  source_step_id text collate "C" not null,
  source_seq integer not null,
  -- Number of the first call in the step that is made again.
  call integer not null,
  -- Calls of all steps before it.
  calls integer not null,
  model text not null,
  agent_version integer,
  prompt text,
  -- The agent from the call on.
  agent jsonb not null,
  created_at bigint not null,
  primary key (org_id, run_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index run_forks_run on run_forks (run_id);
create index run_forks_source on run_forks (source_run_id, created_at);
create index run_forks_project on run_forks (org_id, project_id);
-- down
alter table runs drop column is_replaying;
drop table run_forks;
