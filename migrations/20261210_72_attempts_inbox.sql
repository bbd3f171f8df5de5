-- The inbox has one item for the attempts at a task, which leaves it with the decision.
-- up
create trigger runs_announce_inbox_attempts after update of attempt_state on runs for each row
  when (old.attempt_state is distinct from new.attempt_state) execute function announce_inbox();
-- down
drop trigger runs_announce_inbox_attempts on runs;
