-- The loop of a pull request: people and checks continue the mission that opened it.
-- up
-- `{rounds, hours, costUsd}`; null means the defaults.
alter table projects add column pull_request_loop jsonb;
create table pull_request_remarks (
  id bigint generated always as identity primary key,
  -- The run that has the pull request, when the remark was made.
  run_id text collate "C" not null references runs on delete cascade,
  -- What was said, by its address or commit: it is heard once.
  key text not null,
  -- A login of the source host; empty for a check.
  author text not null,
  text text not null,
  -- The person who approved it, and is billed; null means the person of the run.
  actor_user_id text collate "C" references people on delete set null,
  created_at bigint not null,
  -- When a mission got it; null before.
  taken_at bigint,
  unique (run_id, key)
);
create index pull_request_remarks_waiting on pull_request_remarks (created_at) where taken_at is null;
create index pull_request_remarks_actor on pull_request_remarks (actor_user_id);
-- down
drop table pull_request_remarks;
alter table projects drop column pull_request_loop;
