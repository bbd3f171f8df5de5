-- The milestones of setup that runs reach by now: a mission is steered, continued from a checkpoint, its change merged.
-- up
create trigger run_messages_reach_steer_mission after insert on run_messages for each row
  when (new.author_user_id is not null) execute function reach_setup_milestone('steer_mission', 'created_at');
create trigger runs_reach_checkpoints after update of continues_step_id on runs for each row
  when (new.continues_step_id is not null) execute function reach_setup_milestone('checkpoints', 'updated_at');
create trigger runs_reach_first_merge after update of pr_state on runs for each row
  when (new.pr_state = 'merged') execute function reach_setup_milestone('first_merge', 'updated_at');
-- down
drop trigger runs_reach_first_merge on runs;
drop trigger runs_reach_checkpoints on runs;
drop trigger run_messages_reach_steer_mission on run_messages;
