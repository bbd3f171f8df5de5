-- Runs whose runtime is silent, and the runs of an agent: built while the previous release writes runs.
-- up
create index concurrently if not exists runs_silent on runs (silent_since)
  where status = 'dispatching' and silent_since is not null;
create index concurrently if not exists runs_agent on runs (agent_id) where agent_id is not null;
-- down
drop index runs_agent, runs_silent;
