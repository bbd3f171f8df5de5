-- A run is worked on in steps, one per role: which agents take part, what each step was asked and answered, and what people say
-- to the agents. The older process claims and finishes runs without steps; a run that waits for an approval has a lease time
-- that keeps it from claiming that one.
-- up
alter table runs
  -- The agents that work on it, in order, as they were when it was first claimed.
  add column team jsonb,
  -- The harness that the next step needs; null: that of any agent.
  add column next_harness text,
  -- A person has to approve the plan before it goes on.
  add column awaits_approval boolean not null default false,
  -- Whether the plan needs an approval; null: as the organization has set it.
  add column plan_approval boolean,
  add column interrupted_at bigint,
  -- US dollars; null: what the plan of the organization allows.
  add column budget_usd numeric(14, 6),
  -- Why its steps have failed, until its runtime has finished it.
  add column failure text;
alter table orchestrators add column plan_approval boolean not null default false;

create table run_steps (
  id text collate "C" primary key,
  run_id text collate "C" not null references runs on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  -- From 0.
  seq integer not null,
  role text not null,
  -- How often the builder has begun, from 1; 0 for the planner.
  round integer not null,
  status text not null check (status in ('waiting', 'running', 'completed', 'failed', 'canceled')),
  agent jsonb not null,
  harness text not null,
  model text not null,
  prompt text not null,
  has_schema boolean not null default false,
  -- Whether an invalid output came before it.
  is_repeated boolean not null default false,
  resume_session_id text,
  session_id text,
  sandbox_id text,
  -- JSON.
  output text,
  error text,
  -- What the runtime was told when it had finished the step.
  outcome text,
  lease_id text,
  turns integer,
  cost_usd numeric(14, 6) not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint,
  unique (run_id, seq)
);
create index run_steps_org on run_steps (org_id);
create index run_steps_project on run_steps (project_id);

create table run_messages (
  id text collate "C" primary key,
  run_id text collate "C" not null references runs on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  -- From 0.
  seq integer not null,
  kind text not null check (kind in ('message', 'answer', 'approval', 'interrupt', 'resume')),
  text text not null,
  author_user_id text references people on delete set null,
  author text not null,
  -- The sender's own id of it: a repeated message is the same one.
  key text,
  -- Of an answer: the question of the agent.
  sandbox_id text,
  fragment_seq integer,
  created_at bigint not null,
  delivered_at bigint,
  acknowledged_at bigint,
  unique (run_id, seq)
);
create unique index run_messages_key on run_messages (run_id, key) where key is not null;
create unique index run_messages_answer on run_messages (run_id, sandbox_id, fragment_seq) where fragment_seq is not null;
create index run_messages_open on run_messages (run_id, seq) where kind in ('message', 'answer') and acknowledged_at is null;
create index run_messages_org on run_messages (org_id);
create index run_messages_project on run_messages (project_id);
create index run_messages_author on run_messages (author_user_id);

-- What a runtime is, beside what it offers. Null: it did not say.
alter table runtime_harnesses
  add column version text,
  add column isolation text,
  add column places integer;
-- down
alter table runtime_harnesses drop column places, drop column isolation, drop column version;
drop table run_messages;
drop table run_steps;
alter table orchestrators drop column plan_approval;
alter table runs drop column failure, drop column budget_usd, drop column interrupted_at, drop column plan_approval,
  drop column awaits_approval, drop column next_harness, drop column team;
