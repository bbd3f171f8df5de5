-- The agent that alone works on the runs of a recurring mission.
-- up
-- Also a built-in agent, which has no row; null: one that a connected runtime offers.
alter table recurring_missions add column agent_id text;
-- down
alter table recurring_missions drop column agent_id;
