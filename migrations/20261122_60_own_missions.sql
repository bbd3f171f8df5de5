-- A run without a recurring mission carries its prompt itself, and may name the agent that works on it. The older process neither
-- delivers nor claims such a run; it waits for a newer one.
-- up
alter table runs
  add column prompt text,
  -- Also the id of a built-in agent, which has no row.
  add column agent_id text;
-- down
alter table runs drop column agent_id, drop column prompt;
