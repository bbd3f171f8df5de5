-- Runs are listed by what started them, and by the agent that they were started for.
-- up
create index concurrently if not exists runs_kind on runs (org_id, kind, created_at desc, id desc);
create index concurrently if not exists runs_of_agent on runs (org_id, agent_id, created_at desc, id desc) where agent_id is not null;
-- down
drop index runs_of_agent;
drop index runs_kind;
