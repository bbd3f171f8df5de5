-- Attempts are read by their group: their costs together, and the ones to close.
-- up
create index concurrently if not exists runs_attempts on runs (attempt_group_id) where attempt_group_id is not null;
-- down
drop index runs_attempts;
