-- The milestones that organizations reached before there were triggers for them, which runs beside a working service.
-- up
insert into setup_milestones (org_id, milestone_id, reached_at)
  select org_id, 'workspace', min(created_at) from projects group by org_id
  union all
  select org_id, 'first_mission', min(coalesce(finished_at, updated_at)) from runs where status = 'completed' group by org_id
  union all
  select org_id, 'first_review', min(last_heartbeat_at) from sandboxes
    where role = 'reviewer' and status = 'completed' group by org_id
  union all
  select org_id, 'preview_deployment', min(created_at) from environments
    where status in ('active', 'destroying', 'destroyed') group by org_id
  union all
  select org_id, 'agent_to_pr', min(created_at) from environments where pr_number is not null group by org_id
  union all
  select org_id, 'agent_instructions', min(updated_at) from agents where user_prompt <> '' group by org_id
  union all
  select org_id, 'mcp_servers', min(created_at) from mcp_bindings group by org_id
  union all
  select org_id, 'teammate', max(created_at) from memberships group by org_id having count(*) > 1
  union all
  select org_id, 'scheduled_task', min(created_at) from recurring_missions where kind = 'scheduled_task' group by org_id
  on conflict do nothing;
-- down
select 1;
