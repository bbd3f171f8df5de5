-- The service counts the runs that have ended lately, over all organizations.
-- up
create index concurrently if not exists runs_finished on runs (finished_at) include (status) where finished_at is not null;
-- down
drop index runs_finished;
