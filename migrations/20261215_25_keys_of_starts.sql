-- A run and an issue are in the organization of their project: one foreign key says so, in place of one to each of the two. The next files
-- check it, and drop the others.
-- up
lock table recurring_missions, runs in share row exclusive mode;
alter table runs add constraint runs_project foreign key (org_id, project_id) references projects (org_id, id) on delete cascade not valid;
alter table issues add constraint issues_project_in_organization foreign key (org_id, project_id) references projects (org_id, id)
  on delete cascade not valid;
-- The columns of the previous release follow recurring_id by the trigger runs_name_recurring_mission, also when its foreign key empties it.
alter table runs drop constraint runs_scheduled_task_id_fkey, drop constraint runs_automation_id_fkey;
-- down
alter table runs
  add constraint runs_scheduled_task_id_fkey foreign key (scheduled_task_id) references recurring_missions on delete set null,
  add constraint runs_automation_id_fkey foreign key (automation_id) references recurring_missions on delete set null;
alter table issues drop constraint issues_project_in_organization;
alter table runs drop constraint runs_project;
