-- Calls that a run makes of tools of MCP servers, and the role of the agent that makes them.
-- up
alter table runs add column agent_role text;

create table mcp_calls (
  id text primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  run_id text not null references runs on delete cascade,
  server_name text not null,
  tool text not null,
  outcome text not null check (outcome in ('ok', 'tool_error', 'refused', 'failed')),
  duration_ms integer not null,
  created_at bigint not null
);
create index mcp_calls_run on mcp_calls (run_id, created_at desc, id desc);
create index mcp_calls_org on mcp_calls (org_id);
create index mcp_calls_project on mcp_calls (project_id);
-- down
drop table mcp_calls;
alter table runs drop column agent_role;
