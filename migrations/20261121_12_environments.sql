-- Preview environments: a running copy of the project for one change, made and taken away by the runtime.
-- up
create table environments (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  issue_id text,
  pr_number integer check (pr_number > 0),
  worker_name text,
  status text not null check (status in ('provisioning', 'active', 'destroying', 'destroyed', 'failed')),
  created_at bigint not null,
  expires_at bigint,
  destroyed_at bigint,
  constraint environments_destroyed check ((status = 'destroyed') = (destroyed_at is not null))
);
create index environments_newest on environments (org_id, created_at desc, id desc);
create index environments_project on environments (project_id, created_at desc, id desc);
create index environments_issue on environments (org_id, issue_id, created_at desc, id desc);
-- down
drop table environments;
