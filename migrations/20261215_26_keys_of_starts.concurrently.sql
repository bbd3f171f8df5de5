-- Checks of the previous files, and indexes that no statement needs: they begin with columns of the previous release, whose foreign keys are
-- gone, or with the agent alone, by which only waiting runs are found.
-- up
alter table runs validate constraint runs_project;
alter table issues validate constraint issues_project_in_organization;
alter table credit_entries validate constraint credit_entries_first;
drop index concurrently if exists runs_scheduled_task;
drop index concurrently if exists runs_automation;
drop index concurrently if exists runs_agent;
-- down
create index runs_agent on runs (agent_id) where agent_id is not null;
create index runs_automation on runs (automation_id, created_at desc, id desc) where automation_id is not null;
create index runs_scheduled_task on runs (scheduled_task_id, created_at desc, id desc) where scheduled_task_id is not null;
