-- Sandboxes and what happens in them: sessions with their logs, live fragments, and metrics, of which there are very many.
-- up
create table sandboxes (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  issue_id text,
  run_id text,
  role text not null,
  harness text not null,
  harness_version text,
  -- `stale` is not stored: it is `running` without a heartbeat, at the moment one looks.
  status text not null check (status in ('running', 'destroyed', 'completed', 'failed')),
  termination_reason text,
  instance_type text not null,
  created_at bigint not null,
  timeout_at bigint,
  -- Registering is the first sign of life.
  last_heartbeat_at bigint not null,
  destroyed_at bigint,
  last_cpu_pct real,
  last_mem_used_mb real,
  last_mem_total_mb real,
  last_disk_used_pct real,
  last_metric_at bigint,
  constraint sandboxes_destroyed check (status <> 'destroyed' or destroyed_at is not null)
);
create index sandboxes_newest on sandboxes (org_id, created_at desc, id desc);
create index sandboxes_running on sandboxes (org_id, created_at desc, id desc) where status = 'running';
create index sandboxes_project on sandboxes (project_id, created_at desc, id desc);
create index sandboxes_run on sandboxes (run_id);

create table sandbox_sessions (
  sandbox_id text collate "C" not null references sandboxes on delete cascade,
  role text not null,
  session_id text collate "C" not null,
  started_at bigint not null,
  outcome text,
  total_cost_usd numeric(12, 4) not null default 0 check (total_cost_usd >= 0),
  primary key (sandbox_id, role, session_id)
);

-- A log as it arrives, piece by piece. The key lets no piece come twice.
create table sandbox_log_parts (
  sandbox_id text collate "C" not null,
  role text not null,
  session_id text collate "C" not null,
  part text not null check (part in ('session', 'system', 'prompt')),
  seq integer not null check (seq >= 0),
  content text not null,
  bytes integer not null generated always as (octet_length(content)) stored,
  -- A prompt is made of spans; each piece of it is one of them.
  span_id text,
  primary key (sandbox_id, role, session_id, part, seq),
  foreign key (sandbox_id, role, session_id) references sandbox_sessions on delete cascade,
  constraint sandbox_log_parts_span check ((part = 'prompt') = (span_id is not null))
);

create table sandbox_fragments (
  sandbox_id text collate "C" not null references sandboxes on delete cascade,
  seq integer not null check (seq >= 0),
  kind text not null check (kind in ('thought', 'action', 'elicitation', 'response', 'error', 'prompt', 'plan')),
  at bigint not null,
  body text,
  action text,
  parameter text,
  result text,
  tool_use_id text,
  items jsonb not null default '[]',
  primary key (sandbox_id, seq)
);

-- By time, so that the old ones go by dropping a table. Partitions are made ahead by the scheduler; what finds none waits in
-- the default one. No reference to the sandbox: checking it for every sample would cost more than a few samples of nobody's.
create table sandbox_metrics (
  sandbox_id text collate "C" not null,
  at bigint not null,
  cpu_pct real not null,
  mem_used_mb real not null,
  mem_total_mb real not null,
  disk_used_pct real not null,
  primary key (sandbox_id, at)
) partition by range (at);
create table sandbox_metrics_default partition of sandbox_metrics default;
-- down
drop table sandbox_metrics;
drop table sandbox_fragments;
drop table sandbox_log_parts;
drop table sandbox_sessions;
drop table sandboxes;
