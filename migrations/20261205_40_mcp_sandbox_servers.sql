-- The checksum of the package of an MCP server in sandboxes, as it was when the server was first started.
-- up
alter table mcp_bindings add column package_integrity text;
-- down
alter table mcp_bindings drop column package_integrity;
