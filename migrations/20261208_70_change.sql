-- People review the diff of a run's branch: the run names its artifact, because a program of the mission may submit a file of the same name.
-- up
-- The artifact may have expired, so that no foreign key holds it.
alter table runs add column change_artifact_id text collate "C";
-- down
alter table runs drop column change_artifact_id;
