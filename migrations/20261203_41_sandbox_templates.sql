-- Sandbox templates of organizations, beside the built-in one. Projects reach the milestone `custom_sandbox` too; of a project, which
-- has no time of its last change, the time is that of the transaction.
-- up
create table sandbox_templates (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  name text not null,
  description text,
  base text not null check (base in ('machine', 'image', 'dockerfile')),
  image text,
  dockerfile text,
  setup_script text,
  -- A list of `{name, value}`.
  variables jsonb not null,
  -- `{mode, hosts}`.
  setup_network jsonb not null,
  agent_network jsonb not null,
  memory_mb integer,
  disk_mb integer,
  processes integer,
  created_at bigint not null,
  updated_at bigint not null,
  check ((base = 'image') = (image is not null) and (base = 'dockerfile') = (dockerfile is not null))
);
create unique index sandbox_templates_name on sandbox_templates (org_id, lower(name));
create index sandbox_templates_org on sandbox_templates (org_id, created_at desc, id desc);

create or replace function reach_setup_milestone() returns trigger language plpgsql as $$
begin
  perform from setup_milestones
    where org_id = new.org_id and milestone_id = tg_argv[0] and reached_at is not null;
  if found then return null; end if;
  if tg_argv[0] = 'teammate' and not exists (
    select from memberships where org_id = new.org_id and to_jsonb(new)->>'user_id' <> user_id
  ) then return null; end if;
  insert into setup_milestones (org_id, milestone_id, reached_at)
    select o.id, tg_argv[0], coalesce((to_jsonb(new)->>tg_argv[1])::bigint,
      nullif(current_setting('app.now', true), '')::bigint, (to_jsonb(new)->>'created_at')::bigint)
    from organizations o where o.id = new.org_id
    on conflict (org_id, milestone_id) do update set reached_at = excluded.reached_at
    where setup_milestones.reached_at is null;
  return null;
end $$;
create trigger projects_reach_custom_sandbox after update of default_sandbox_template_id on projects for each row
  when (new.default_sandbox_template_id <> 'standard') execute function reach_setup_milestone('custom_sandbox', 'updated_at');
-- down
drop trigger projects_reach_custom_sandbox on projects;
create or replace function reach_setup_milestone() returns trigger language plpgsql as $$
begin
  perform from setup_milestones
    where org_id = new.org_id and milestone_id = tg_argv[0] and reached_at is not null;
  if found then return null; end if;
  if tg_argv[0] = 'teammate' and not exists (
    select from memberships where org_id = new.org_id and to_jsonb(new)->>'user_id' <> user_id
  ) then return null; end if;
  insert into setup_milestones (org_id, milestone_id, reached_at)
    select o.id, tg_argv[0], coalesce((to_jsonb(new)->>tg_argv[1])::bigint, (to_jsonb(new)->>'created_at')::bigint)
    from organizations o where o.id = new.org_id
    on conflict (org_id, milestone_id) do update set reached_at = excluded.reached_at
    where setup_milestones.reached_at is null;
  return null;
end $$;
drop table sandbox_templates;
