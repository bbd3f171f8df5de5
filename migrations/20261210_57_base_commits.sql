-- Images before a change are read at the commit that the branch began from.
-- up
alter table runs add column base_sha text;
-- down
alter table runs drop column base_sha;
