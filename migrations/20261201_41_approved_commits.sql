-- The commit that the reviewer of a run approved: a project that merges by itself merges no other, and the run says why it waits.
-- up
alter table runs
  add column approved_sha text,
  add column merge_blocker text;
-- down
alter table runs
  drop column approved_sha,
  drop column merge_blocker;
