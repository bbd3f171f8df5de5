-- The column of handed missions is checked, and missions are found by it when the person leaves.
-- up
create index concurrently if not exists runs_handed_to on runs (handed_to_user_id) where handed_to_user_id is not null;
alter table runs validate constraint runs_handed_to_user_id_fkey;
-- down
drop index runs_handed_to;
