-- The workspace after each step of a run, from which work is continued: by the next runtime after one that was lost, or by a run
-- that a person starts.
-- up
create table checkpoints (
  step_id text collate "C" primary key references run_steps on delete cascade,
  run_id text collate "C" not null references runs on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  -- A bundle of git. Without it there is nothing to continue from.
  artifact_id text collate "C" not null references artifacts on delete cascade,
  commit_sha text not null,
  -- The session of the harness that worked on the step.
  session_id text,
  created_at bigint not null
);
create index checkpoints_run on checkpoints (run_id);
create index checkpoints_org on checkpoints (org_id);
create index checkpoints_project on checkpoints (project_id);
create index checkpoints_artifact on checkpoints (artifact_id);
-- The step, of another run, whose checkpoint the run began from. That run may be erased.
alter table runs add column continues_step_id text;
-- down
alter table runs drop column continues_step_id;
drop table checkpoints;
