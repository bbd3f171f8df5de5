-- Missions that return (scheduled tasks and automations), their runs, and the issues of the tracker that is built in.
-- up
create table scheduled_tasks (
  id text collate "C" primary key,
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
  created_at bigint not null,
  updated_at bigint not null,
  -- What is disabled is never due.
  check (enabled = (next_run_at is not null))
);
create index scheduled_tasks_due on scheduled_tasks (next_run_at) where next_run_at is not null;
create index scheduled_tasks_newest on scheduled_tasks (org_id, created_at desc, id desc);
create index scheduled_tasks_project on scheduled_tasks (project_id, created_at desc, id desc);

create table automations (
  like scheduled_tasks including defaults including constraints,
  primary key (id),
  foreign key (org_id) references organizations on delete cascade,
  foreign key (project_id) references projects on delete cascade,
  foreign key (created_by_user_id) references people
);
create index automations_due on automations (next_run_at) where next_run_at is not null;
create index automations_newest on automations (org_id, created_at desc, id desc);
create index automations_project on automations (project_id, created_at desc, id desc);

create table runs (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  -- One of the two; none once that one is deleted: what was run, and what it cost, stays.
  scheduled_task_id text references scheduled_tasks on delete set null,
  automation_id text references automations on delete set null,
  scheduled_for bigint not null,
  kind text not null check (kind in ('scheduled', 'manual')),
  status text not null check (status in ('dispatching', 'running', 'completed', 'failed', 'skipped', 'canceled')),
  -- As the project's tracker names it: no reference, since that may be another service.
  issue_id text,
  issue_url text,
  reason text,
  last_error text,
  mission_title text,
  mission_progress integer check (mission_progress between 0 and 100),
  mission_activity text,
  mission_cost_usd numeric(14, 6) not null default 0 check (mission_cost_usd >= 0),
  mission_cost_incomplete boolean not null default false,
  billing_actor_user_id text references people on delete set null,
  -- Who works on it just now, and until when nobody else does; `attempts` counts up with every taking.
  claimed_by text,
  lease_until bigint,
  attempts integer not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  check (num_nonnulls(scheduled_task_id, automation_id) <= 1),
  -- Without a lease to run out nobody would ever come back to it.
  check (status <> 'dispatching' or num_nonnulls(issue_id, lease_until) > 0)
);
-- An occurrence is run once, whoever finds it due. Pressing "run now" twice is meant twice.
create unique index runs_scheduled_task_occurrence on runs (scheduled_task_id, scheduled_for)
  where kind = 'scheduled' and scheduled_task_id is not null;
create unique index runs_automation_occurrence on runs (automation_id, scheduled_for)
  where kind = 'scheduled' and automation_id is not null;
create index runs_scheduled_task on runs (scheduled_task_id, created_at desc, id desc) where scheduled_task_id is not null;
create index runs_automation on runs (automation_id, created_at desc, id desc) where automation_id is not null;
create index runs_scheduled_task_open on runs (scheduled_task_id)
  where status in ('dispatching', 'running') and scheduled_task_id is not null;
create index runs_automation_open on runs (automation_id)
  where status in ('dispatching', 'running') and automation_id is not null;
create index runs_newest on runs (org_id, created_at desc, id desc);
create index runs_project on runs (project_id, created_at desc, id desc);
create index runs_undelivered on runs (lease_until) where status = 'dispatching' and issue_id is null;
create index runs_billing_actor on runs (billing_actor_user_id);

create table issues (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  number integer not null,
  -- As the project's code was when it was made: a key that somebody wrote down stays good.
  key text not null,
  title text not null,
  body text not null,
  labels text[] not null,
  state text not null check (state in ('open', 'closed')),
  -- A run has one issue, however often its dispatch is tried.
  run_id text constraint issues_run unique references runs on delete set null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint issues_number unique (project_id, number)
);
create index issues_newest on issues (org_id, created_at desc, id desc);
create index issues_project on issues (project_id, created_at desc, id desc);

create table issue_counters (
  project_id text primary key references projects on delete cascade,
  last_number integer not null
);
-- down
drop table issue_counters;
drop table issues;
drop table runs;
drop table automations;
drop table scheduled_tasks;
