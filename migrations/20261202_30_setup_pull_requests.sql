-- The milestone `agent_to_pr` is reached when a mission opens a pull request; runtimes do not report those of environments.
-- up
drop trigger environments_reach_agent_to_pr on environments;
create trigger runs_reach_agent_to_pr after update of pr_number on runs for each row
  when (new.pr_number is not null) execute function reach_setup_milestone('agent_to_pr', 'updated_at');
-- down
drop trigger runs_reach_agent_to_pr on runs;
create trigger environments_reach_agent_to_pr after insert on environments for each row
  when (new.pr_number is not null) execute function reach_setup_milestone('agent_to_pr', 'created_at');
