-- How the agents of a run were chosen: by the orchestrator's model, which is asked once, or by roles and harnesses.
-- up
alter table runs add column agent_choice jsonb;
-- down
alter table runs drop column agent_choice;
