-- The versions of a change: one for each report of the branch, with the diff at that time.
-- up
create table change_versions (
  run_id text collate "C" not null references runs on delete cascade,
  head_sha text collate "C" not null,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  branch text not null,
  -- The role of the agent whose step made it.
  role text not null,
  artifact_id text collate "C" not null references artifacts on delete cascade,
  commits integer,
  changed_files integer,
  insertions integer,
  deletions integer,
  created_at bigint not null,
  primary key (run_id, head_sha)
);
create index change_versions_branch on change_versions (project_id, branch, created_at);
create index change_versions_organization on change_versions (org_id);
create index change_versions_artifact on change_versions (artifact_id);
-- down
drop table change_versions;
