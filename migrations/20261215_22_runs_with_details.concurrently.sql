-- The retention finds ended runs with details, oldest first. A run gets its entry with its end, and loses it with its details.
-- up
create index concurrently if not exists runs_with_details on runs (org_id, finished_at, id) where finished_at is not null and kept is null;
-- down
drop index runs_with_details;
