-- Every run names a recurring mission that exists, or none. The indexes of the two old columns that nothing needs any more go.
-- up
alter table runs validate constraint runs_recurring_id_fkey;
alter table runs validate constraint runs_scheduled_task_id_fkey;
alter table runs validate constraint runs_automation_id_fkey;
drop index concurrently if exists runs_scheduled_task_occurrence;
drop index concurrently if exists runs_automation_occurrence;
drop index concurrently if exists runs_scheduled_task_open;
drop index concurrently if exists runs_automation_open;
-- down
create unique index runs_scheduled_task_occurrence on runs (scheduled_task_id, scheduled_for)
  where kind = 'scheduled' and scheduled_task_id is not null;
create unique index runs_automation_occurrence on runs (automation_id, scheduled_for)
  where kind = 'scheduled' and automation_id is not null;
create index runs_scheduled_task_open on runs (scheduled_task_id)
  where status in ('dispatching', 'running') and scheduled_task_id is not null;
create index runs_automation_open on runs (automation_id)
  where status in ('dispatching', 'running') and automation_id is not null;
