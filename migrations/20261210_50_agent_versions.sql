-- Agents have versions: each change keeps the settings, and a share of an agent's missions can try those of another version.
-- up
create table agent_versions (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  agent_id text collate "C" not null references agents on delete cascade,
  -- Counted from 1 for each agent.
  number integer not null,
  name text not null,
  role text not null,
  harness text not null,
  model text not null,
  effort text,
  sandbox_template_id text not null,
  user_prompt text,
  skill_repos text[] not null,
  note text,
  author_user_id text collate "C" references people on delete set null,
  -- Null where no person is known: versions from before this table.
  author text,
  created_at bigint not null,
  unique (agent_id, number)
);
create index agent_versions_newest on agent_versions (org_id, created_at desc, id desc);
create index agent_versions_agent on agent_versions (agent_id, created_at desc, id desc);
create index agent_versions_author on agent_versions (author_user_id);

alter table agents
  -- The version whose settings the agent has.
  add column version integer not null default 1,
  -- The version that a share of the missions tries, with the share; both null without a trial.
  add column trial_version integer,
  add column trial_percent integer;

insert into agent_versions (id, org_id, agent_id, number, name, role, harness, model, effort, sandbox_template_id, user_prompt,
    skill_repos, created_at)
  select 'agv_' || substr(id, 5), org_id, id, 1, name, role, harness, model, effort, sandbox_template_id, user_prompt, skill_repos,
    updated_at from agents;
-- down
alter table agents drop column version, drop column trial_version, drop column trial_percent;
drop table agent_versions;
