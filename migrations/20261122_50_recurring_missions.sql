-- Scheduled tasks and automations are one table, and a run names its mission in one column, which 51 to 53 index, fill and check.
-- The previous release reads and writes views and columns with the old names; a later release drops these.
-- up
lock table scheduled_tasks, automations, runs in access exclusive mode;

create table recurring_missions (
  id text collate "C" primary key,
  kind text not null,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  name text not null check (char_length(name) between 1 and 120),
  prompt text not null,
  template_key text,
  triggers jsonb not null,
  labels text[] not null,
  skip_if_previous_open boolean not null,
  enabled boolean not null,
  next_run_at bigint,
  last_run_at bigint,
  created_by_user_id text not null references people,
  -- Null in rows that the creator alone has set.
  updated_by_user_id text references people,
  created_at bigint not null,
  updated_at bigint not null,
  -- An id tells its kind, so that a run needs no second column for it.
  constraint recurring_missions_kind check (
    kind = 'scheduled_task' and starts_with(id, 'sch_') or kind = 'automation' and starts_with(id, 'aut_')),
  -- What is disabled is never due.
  check (enabled = (next_run_at is not null))
);
insert into recurring_missions (id, kind, org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at)
  select id, 'scheduled_task', org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at
  from scheduled_tasks
  union all
  select id, 'automation', org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at
  from automations;
create index recurring_missions_due on recurring_missions (next_run_at) where next_run_at is not null;
create index recurring_missions_upcoming on recurring_missions (org_id, next_run_at, id) where next_run_at is not null;
create index recurring_missions_newest on recurring_missions (org_id, kind, created_at desc, id desc);
create index recurring_missions_project on recurring_missions (project_id, kind, created_at desc, id desc);

alter table runs drop constraint runs_scheduled_task_id_fkey, drop constraint runs_automation_id_fkey;
drop table scheduled_tasks;
drop table automations;

create view scheduled_tasks as
  select id, org_id, project_id, name, prompt, template_key, triggers, labels, skip_if_previous_open, enabled, next_run_at,
    last_run_at, created_by_user_id, created_at, updated_at, updated_by_user_id, kind
  from recurring_missions where kind = 'scheduled_task';
alter view scheduled_tasks alter column kind set default 'scheduled_task';
create view automations as
  select id, org_id, project_id, name, prompt, template_key, triggers, labels, skip_if_previous_open, enabled, next_run_at,
    last_run_at, created_by_user_id, created_at, updated_at, updated_by_user_id, kind
  from recurring_missions where kind = 'automation';
alter view automations alter column kind set default 'automation';

alter table runs add column recurring_id text;
-- The old columns refer to the new table as well: a mission that is deleted before its runs are filled is not named by them then.
alter table runs
  add constraint runs_recurring_id_fkey foreign key (recurring_id)
    references recurring_missions on delete set null not valid,
  add constraint runs_scheduled_task_id_fkey foreign key (scheduled_task_id)
    references recurring_missions on delete set null not valid,
  add constraint runs_automation_id_fkey foreign key (automation_id)
    references recurring_missions on delete set null not valid;

-- The previous release names the mission in one of the two old columns, and looks for it there.
create function name_recurring_mission() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.recurring_id := coalesce(new.recurring_id, new.scheduled_task_id, new.automation_id);
  end if;
  new.scheduled_task_id := case when starts_with(new.recurring_id, 'sch_') then new.recurring_id end;
  new.automation_id := case when starts_with(new.recurring_id, 'aut_') then new.recurring_id end;
  return new;
end $$;
create trigger runs_name_recurring_mission before insert or update of recurring_id on runs
  for each row execute function name_recurring_mission();
-- down
lock table recurring_missions, runs in access exclusive mode;
drop trigger runs_name_recurring_mission on runs;
drop function name_recurring_mission();
alter table runs drop column recurring_id, drop constraint runs_scheduled_task_id_fkey, drop constraint runs_automation_id_fkey;
drop view automations;
drop view scheduled_tasks;

create table scheduled_tasks (
  like recurring_missions including constraints,
  primary key (id),
  foreign key (org_id) references organizations on delete cascade,
  foreign key (project_id) references projects on delete cascade,
  foreign key (created_by_user_id) references people,
  foreign key (updated_by_user_id) references people
);
alter table scheduled_tasks drop column kind;
create table automations (
  like scheduled_tasks including constraints,
  primary key (id),
  foreign key (org_id) references organizations on delete cascade,
  foreign key (project_id) references projects on delete cascade,
  foreign key (created_by_user_id) references people,
  foreign key (updated_by_user_id) references people
);
insert into scheduled_tasks (id, org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at)
  select id, org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at
  from recurring_missions where kind = 'scheduled_task';
insert into automations (id, org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at)
  select id, org_id, project_id, name, prompt, template_key, triggers, labels,
    skip_if_previous_open, enabled, next_run_at, last_run_at, created_by_user_id, updated_by_user_id, created_at, updated_at
  from recurring_missions where kind = 'automation';
drop table recurring_missions;

create index scheduled_tasks_due on scheduled_tasks (next_run_at) where next_run_at is not null;
create index scheduled_tasks_newest on scheduled_tasks (org_id, created_at desc, id desc);
create index scheduled_tasks_project on scheduled_tasks (project_id, created_at desc, id desc);
create index scheduled_tasks_upcoming on scheduled_tasks (org_id, next_run_at, id) where next_run_at is not null;
create index automations_due on automations (next_run_at) where next_run_at is not null;
create index automations_newest on automations (org_id, created_at desc, id desc);
create index automations_project on automations (project_id, created_at desc, id desc);
create index automations_upcoming on automations (org_id, next_run_at, id) where next_run_at is not null;

alter table runs
  add constraint runs_scheduled_task_id_fkey foreign key (scheduled_task_id) references scheduled_tasks on delete set null,
  add constraint runs_automation_id_fkey foreign key (automation_id) references automations on delete set null;
