-- The cause of a follower's notice ends with their id: nobody gets the same news as the person of the mission and as a follower.
-- up
create unique index concurrently if not exists mission_notices_once on mission_notices (run_id, user_id, replace(cause, ':' || user_id, ''));
-- down
drop index mission_notices_once;
