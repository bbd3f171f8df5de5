-- The single commits of a version of a change, as an artifact beside its diff.
-- up
alter table change_versions add column commits_artifact_id text collate "C",
  add constraint change_versions_commits_artifact_id_fkey foreign key (commits_artifact_id) references artifacts on delete set null not valid;
-- down
alter table change_versions drop column commits_artifact_id;
