-- Variables and secrets of organizations, projects and sandbox templates. Their values are sealed with the service key.
-- up
create table secrets (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  -- One of them at most; both null: of the organization.
  project_id text references projects on delete cascade,
  template_id text collate "C" references sandbox_templates on delete cascade,
  scope text not null generated always as (case when project_id is not null then 'project'
    when template_id is not null then 'template' else 'organization' end) stored,
  kind text not null check (kind in ('variable', 'secret')),
  name text not null,
  sealed_value text not null,
  hosts jsonb not null,
  setup_only boolean not null,
  last_used_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  check (project_id is null or template_id is null)
);
create unique index secrets_name on secrets (org_id, coalesce(project_id, template_id, ''), name);
create index secrets_org on secrets (org_id, created_at desc, id desc);
create index secrets_project on secrets (project_id, created_at desc, id desc);
create index secrets_template on secrets (template_id);
-- down
drop table secrets;
