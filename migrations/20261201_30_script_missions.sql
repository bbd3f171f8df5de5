-- Recurring missions without an agent whose newest run was a script stay scripts: words are for agents with a model from now on.
-- up
with ran as (
  select m.id, coalesce(
      (select a.id from agents a where a.org_id = m.org_id and a.harness = 'shell' and a.id = newest.agent_id),
      'agn_builtin_shell') as agent_id
  from recurring_missions m cross join lateral (
    select s.harness,
      (select t.agent ->> 'agentId' from run_steps t where t.run_id = r.id order by t.seq limit 1) as agent_id
    from runs r join sandboxes s on s.run_id = r.id where r.recurring_id = m.id
    order by r.created_at desc, r.id desc, s.created_at limit 1
  ) newest
  where m.agent_id is null and newest.harness = 'shell'
), named as (
  update recurring_missions m set agent_id = ran.agent_id from ran where m.id = ran.id and m.agent_id is null
)
update runs r set agent_id = ran.agent_id from ran
  where r.recurring_id = ran.id and r.status = 'dispatching' and r.agent_id is null;
-- down
-- The earlier release runs them as scripts too, by their agent.
select 1;
