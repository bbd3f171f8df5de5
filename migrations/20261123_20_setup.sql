-- Setup progress of organizations. Triggers record a milestone in the transaction of what reaches it; it stays reached when the
-- record that reached it is deleted.
-- up
create table setup_milestones (
  org_id text not null references organizations on delete cascade,
  -- A word of the program, which grows without a migration.
  milestone_id text not null,
  reached_at bigint,
  mark text check (mark in ('done', 'skipped')),
  marked_at bigint,
  primary key (org_id, milestone_id),
  check ((mark is null) = (marked_at is null))
);
-- How far a person has followed a guide.
create table setup_guides (
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  guide_id text not null,
  step integer not null check (step between 0 and 20),
  completed_at bigint,
  primary key (org_id, user_id, guide_id)
);
create index setup_guides_user on setup_guides (user_id);

-- Arguments: the milestone, and the column with the time. The first statement is all that happens once it is reached.
create function reach_setup_milestone() returns trigger language plpgsql as $$
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

create trigger projects_reach_workspace after insert on projects
  for each row execute function reach_setup_milestone('workspace', 'created_at');
create trigger runs_reach_first_mission after insert or update of status on runs for each row
  when (new.status = 'completed') execute function reach_setup_milestone('first_mission', 'finished_at');
create trigger sandboxes_reach_first_review after insert or update of status on sandboxes for each row
  when (new.role = 'reviewer' and new.status = 'completed')
  execute function reach_setup_milestone('first_review', 'last_heartbeat_at');
create trigger environments_reach_preview_deployment after insert or update of status on environments for each row
  when (new.status = 'active') execute function reach_setup_milestone('preview_deployment', 'created_at');
create trigger environments_reach_agent_to_pr after insert on environments for each row
  when (new.pr_number is not null) execute function reach_setup_milestone('agent_to_pr', 'created_at');
create trigger agents_reach_agent_instructions after insert or update of user_prompt on agents for each row
  when (new.user_prompt <> '') execute function reach_setup_milestone('agent_instructions', 'updated_at');
create trigger agents_reach_custom_sandbox after insert or update of sandbox_template_id on agents for each row
  when (new.sandbox_template_id <> 'standard') execute function reach_setup_milestone('custom_sandbox', 'updated_at');
create trigger mcp_bindings_reach_mcp_servers after insert on mcp_bindings
  for each row execute function reach_setup_milestone('mcp_servers', 'created_at');
create trigger memberships_reach_teammate after insert on memberships
  for each row execute function reach_setup_milestone('teammate', 'created_at');
create trigger recurring_missions_reach_scheduled_task after insert on recurring_missions for each row
  when (new.kind = 'scheduled_task') execute function reach_setup_milestone('scheduled_task', 'created_at');
-- down
drop trigger recurring_missions_reach_scheduled_task on recurring_missions;
drop trigger memberships_reach_teammate on memberships;
drop trigger mcp_bindings_reach_mcp_servers on mcp_bindings;
drop trigger agents_reach_custom_sandbox on agents;
drop trigger agents_reach_agent_instructions on agents;
drop trigger environments_reach_agent_to_pr on environments;
drop trigger environments_reach_preview_deployment on environments;
drop trigger sandboxes_reach_first_review on sandboxes;
drop trigger runs_reach_first_mission on runs;
drop trigger projects_reach_workspace on projects;
drop function reach_setup_milestone();
drop table setup_guides, setup_milestones;
