-- Organizations whose missions opened a pull request before there was a trigger for it.
-- up
insert into setup_milestones (org_id, milestone_id, reached_at)
  select org_id, 'agent_to_pr', min(updated_at) from runs where pr_number is not null group by org_id
  on conflict (org_id, milestone_id) do update set reached_at = excluded.reached_at
  where setup_milestones.reached_at is null;
-- down
select 1;
