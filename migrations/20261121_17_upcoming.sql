-- What comes next in an organization: its recurring missions in the order in which they are due.
-- up
create index scheduled_tasks_upcoming on scheduled_tasks (org_id, next_run_at, id) where next_run_at is not null;
create index automations_upcoming on automations (org_id, next_run_at, id) where next_run_at is not null;
-- down
drop index automations_upcoming;
drop index scheduled_tasks_upcoming;
