-- MCP servers of a project: where they are declared, how they are bound, and who is signing in to one of them.
-- up
create table mcp_configs (
  project_id text primary key references projects on delete cascade,
  org_id text not null references organizations on delete cascade,
  config_path text not null,
  updated_at bigint not null
);

create table mcp_bindings (
  id text primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  server_name text not null,
  transport text not null check (transport in ('remote', 'sandbox')),
  enabled boolean not null,
  roles text[] not null,
  auth_kind text not null check (auth_kind in ('none', 'bearer', 'headers', 'oauth')),
  -- What was declared when it was bound; nothing is ever sent to another address.
  pinned_url text,
  package_spec text,
  declared_digest text,
  secret_refs text[] not null,
  sealed_headers text,
  -- How the declaration differs from that now; null: it does not.
  drift text check (drift in ('undeclared', 'address', 'declaration')),
  allowed_egress_hosts text[] not null,
  credential_fields text[] not null,
  sealed_credentials text,
  needs_authorization boolean not null default false,
  last_error text,
  -- The definitions of its tools, as it answered them last, and the digests of those that a person has reviewed.
  tool_snapshot jsonb not null default '[]',
  tools_refreshed_at bigint,
  reviewed_tools jsonb not null default '{}',
  approved_tools jsonb not null default '[]',
  created_at bigint not null,
  updated_at bigint not null
);
create unique index mcp_bindings_server on mcp_bindings (project_id, server_name);
create index mcp_bindings_org on mcp_bindings (org_id, created_at, id);

-- What an authorization server has granted to a binding.
create table mcp_grants (
  binding_id text primary key references mcp_bindings on delete cascade,
  sealed text not null,
  -- Of the access token; null: its server did not say.
  expires_at bigint,
  updated_at bigint not null
);

-- A person who is on their way to an authorization server and back.
create table mcp_authorizations (
  state_digest bytea primary key,
  binding_id text not null references mcp_bindings on delete cascade,
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  sealed text not null,
  return_to text not null,
  expires_at bigint not null
);
create index mcp_authorizations_binding on mcp_authorizations (binding_id);
create index mcp_authorizations_user on mcp_authorizations (user_id);
create index mcp_authorizations_org on mcp_authorizations (org_id);
create index mcp_authorizations_expiry on mcp_authorizations (expires_at);
create index mcp_configs_org on mcp_configs (org_id);
-- down
drop table mcp_authorizations, mcp_grants, mcp_bindings, mcp_configs;
