-- When a piece of a log arrived; null in those of before.
-- up
alter table sandbox_log_parts add column appended_at bigint;
-- down
alter table sandbox_log_parts drop column appended_at;
