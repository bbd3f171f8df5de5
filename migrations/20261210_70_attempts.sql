-- Attempts: several runs work on one task at once; a person chooses one, and the others are closed.
-- up
create table attempt_groups (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  title text not null,
  prompt text not null,
  -- `open`, `chosen` or `closed`.
  state text not null default 'open',
  chosen_run_id text collate "C",
  decided_by_user_id text collate "C" references people on delete set null,
  decided_by text,
  decided_at bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index attempt_groups_organization on attempt_groups (org_id, created_at desc, id desc);
create index attempt_groups_project on attempt_groups (project_id, created_at desc, id desc);
create index attempt_groups_decided_by on attempt_groups (decided_by_user_id);

alter table runs
  -- The group is deleted only with the project, as the run is.
  add column attempt_group_id text collate "C",
  -- Position in the group, counted from 1.
  add column attempt_number integer,
  -- `open` until a person decides, then `chosen` or `closed`.
  add column attempt_state text,
  -- The model that the attempt's agent uses in place of its own.
  add column agent_model text,
  -- Files that the branch of an attempt changes; null before, and when they are unknown.
  add column changed_paths text[],
  -- Title and body of the pull request that is opened once the attempt is chosen.
  add column pull_request_draft jsonb;

select background.create_queue('attempts', '{"policy": "standard"}');
-- down
select background.delete_queue('attempts');
alter table runs drop column attempt_group_id, drop column attempt_number, drop column attempt_state, drop column agent_model,
  drop column changed_paths, drop column pull_request_draft;
drop table attempt_groups;
