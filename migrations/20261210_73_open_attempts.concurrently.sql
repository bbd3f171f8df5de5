-- The inbox reads the attempts about which nobody has decided.
-- up
create index concurrently if not exists runs_open_attempts on runs (org_id, attempt_group_id) where attempt_state = 'open';
-- down
drop index runs_open_attempts;
