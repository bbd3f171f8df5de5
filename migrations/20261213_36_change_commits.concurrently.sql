-- Artifacts are found by it when they expire.
-- up
create index concurrently if not exists change_versions_commits_artifact on change_versions (commits_artifact_id) where commits_artifact_id is not null;
alter table change_versions validate constraint change_versions_commits_artifact_id_fkey;
-- down
drop index change_versions_commits_artifact;
