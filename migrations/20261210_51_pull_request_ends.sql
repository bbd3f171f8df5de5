-- Figures of quality: the time from a mission's start to its merge.
-- up
-- When the pull request was merged or closed; null before, and for those that ended before this column.
alter table runs add column pr_ended_at bigint;
-- down
alter table runs drop column pr_ended_at;
