-- What was reviewed of the tools of an MCP server, to be held against what they are now; who refreshes the token of a grant; and
-- the calls of a project by time.
-- up
alter table mcp_bindings add column reviewed_definitions jsonb;
alter table mcp_grants add column refreshing_until bigint;
create index mcp_calls_project_time on mcp_calls (project_id, created_at desc);
-- down
drop index mcp_calls_project_time;
alter table mcp_grants drop column refreshing_until;
alter table mcp_bindings drop column reviewed_definitions;
