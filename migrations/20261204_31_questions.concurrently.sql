-- Runs that wait for a person are found by the questions of their agents, which are few among the fragments.
-- up
create index concurrently if not exists sandbox_questions on sandbox_fragments (sandbox_id, seq) where kind = 'elicitation';
-- down
drop index sandbox_questions;
