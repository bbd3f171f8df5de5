-- Missions that were handed to a person are found when the person leaves.
-- up
create index concurrently if not exists runs_handed_to on runs (handed_to_user_id) where handed_to_user_id is not null;
-- down
drop index runs_handed_to;
