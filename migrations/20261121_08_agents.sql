-- Agents are who missions run with; those that are built in stand in the program, not here.
-- up
create table agents (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  name text not null check (char_length(name) between 1 and 120),
  -- Role, harness, model and template are words of the catalog, which grows without a migration.
  role text not null,
  harness text not null,
  model text not null,
  effort text check (effort in ('low', 'medium', 'high')),
  sandbox_template_id text not null,
  user_prompt text,
  skill_repos text[] not null,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index agents_name on agents (org_id, lower(name));
create index agents_newest on agents (org_id, created_at desc, id desc);
-- down
drop table agents;
