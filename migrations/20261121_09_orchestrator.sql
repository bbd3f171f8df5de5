-- What of the orchestrator an organization has set for itself, and what missions have cost: each amount once, never changed.
-- up
create table orchestrators (
  org_id text collate "C" primary key references organizations on delete cascade,
  -- Null: as the service has it.
  name text check (char_length(name) between 1 and 120),
  blurb text,
  model text,
  llm_connector_id text references integrations on delete set null,
  inference_enabled boolean not null default true,
  daily_cost_cap_usd numeric(12, 4) check (daily_cost_cap_usd >= 0),
  updated_at bigint not null
);
create index orchestrators_llm_connector on orchestrators (llm_connector_id);

create table mission_costs (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  -- What was spent stays spent, also when the project, the run or the sandbox is gone.
  project_id text not null,
  run_id text,
  sandbox_id text,
  usd numeric(12, 4) not null check (usd >= 0),
  at bigint not null
);
create index mission_costs_day on mission_costs (org_id, at) include (usd);
create index mission_costs_run on mission_costs (run_id) include (usd);
-- down
drop table mission_costs;
drop table orchestrators;
