-- Missions are handed to another person, who hears of them; costs stay with the person who started them.
-- up
alter table runs
  add column handed_to_user_id text,
  add constraint runs_handed_to_user_id_fkey foreign key (handed_to_user_id) references people on delete set null not valid;
-- The kinds of entries are words of the program, which grow without a migration.
alter table run_messages drop constraint run_messages_kind_check;
-- down
delete from run_messages where kind not in ('message', 'answer', 'approval', 'interrupt', 'resume');
alter table run_messages add constraint run_messages_kind_check check (kind in ('message', 'answer', 'approval', 'interrupt', 'resume'));
alter table runs drop column handed_to_user_id;
