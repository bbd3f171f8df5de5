-- Integrations are what a project connects to; a project ties together a tracker, a repository and a language model.
-- up
create table integrations (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  vendor text not null check (vendor in ('linear', 'github', 'builtin', 'anthropic', 'openai')),
  vendor_kind text not null check (vendor_kind in ('tracker', 'scm', 'llm')),
  external_org_id text,
  display_name text not null,
  -- Sealed with the service key: read back only to speak to the vendor.
  sealed_credentials text,
  created_at bigint not null,
  updated_at bigint not null
);
create index integrations_org on integrations (org_id, created_at, id);

create table projects (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  slug text not null,
  name text not null check (char_length(name) between 1 and 120),
  status text not null check (status in ('active', 'paused', 'archived')),
  tracker text not null check (tracker in ('builtin', 'linear', 'github')),
  tracker_connector_id text references integrations,
  tracker_team_id text,
  tracker_project_id text,
  scm_connector_id text references integrations,
  scm_owner text not null,
  scm_repo text not null,
  llm_connector_id text references integrations,
  auto_merge boolean not null default false,
  issue_code text check (issue_code ~ '^[A-Z][A-Z0-9]{1,9}$'),
  default_sandbox_template_id text,
  created_at bigint not null,
  constraint projects_slug unique (org_id, slug)
);
-- Source hosts don't tell upper from lower case in these names.
create unique index projects_repository on projects (org_id, lower(scm_owner), lower(scm_repo));
create index projects_newest on projects (org_id, created_at desc, id desc);
create index projects_tracker_connector on projects (tracker_connector_id);
create index projects_scm_connector on projects (scm_connector_id);
create index projects_llm_connector on projects (llm_connector_id);
-- down
drop table projects;
drop table integrations;
