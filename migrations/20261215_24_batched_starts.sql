-- Missions start in batches: what triggers write for new runs and issues is one statement for all rows of a statement, in place of one for
-- each row.
-- up
lock table recurring_missions, runs, issues, credit_entries in share row exclusive mode;

-- Changes of tables that many rows are inserted into at once; the table has a column org_id.
create function record_audit_creations() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, after)
      select one.org_id, tg_table_name, origin, to_jsonb(one) from added one;
  end if;
  return null;
end $$;
create or replace trigger issues_audit_created after insert on issues referencing new table as added
  for each statement execute function record_audit_creations('org_id');

create function record_audit_runs() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, after)
      select one.org_id, 'runs', origin, audit_run(row(one.*)::runs) from added one;
  end if;
  return null;
end $$;
create or replace trigger runs_audit_created after insert on runs referencing new table as added
  for each statement execute function record_audit_runs();

create function announce_inboxes() returns trigger language plpgsql as $$ begin
  perform pg_notify('changes', 'inbox:' || org_id) from (select distinct org_id from added) organizations;
  return null;
end $$;
create or replace trigger runs_announce_inbox after insert on runs referencing new table as added
  for each statement execute function announce_inboxes();

-- The words of the logs are none at first, so that a new run is in one of the two indexes; its texts are read again after two minutes.
alter table run_texts alter column all_words drop not null;
create function insert_run_texts() returns trigger language plpgsql as $$ begin
  insert into run_texts (run_id, words, due_at)
    select id, array_to_tsvector(array[org_id::text]) || words_of(left(concat_ws(' ', mission_title, prompt, issue_text), 40000)),
      created_at + 120000
    from added on conflict do nothing;
  return null;
end $$;
create or replace trigger runs_insert_text after insert on runs referencing new table as added
  for each statement execute function insert_run_texts();
drop function insert_run_text;

-- The first entry of an account needs no look at earlier ones: the primary key allows one entry with the number 1.
alter table credit_entries add constraint credit_entries_first check (seq > 1 or balance_after = amount) not valid;
create or replace trigger credit_entries_continue before insert on credit_entries
  for each row when (new.seq is distinct from 1) execute function continue_credit_entries();
-- down
create or replace trigger credit_entries_continue before insert on credit_entries
  for each row execute function continue_credit_entries();
alter table credit_entries drop constraint credit_entries_first;
create function insert_run_text() returns trigger language plpgsql as $$
declare found_words tsvector := array_to_tsvector(array[new.org_id::text])
  || words_of(left(concat_ws(' ', new.mission_title, new.prompt), 40000));
begin
  insert into run_texts (run_id, words, all_words, due_at) values (new.id, found_words, found_words, new.created_at) on conflict do nothing;
  return null;
end $$;
create or replace trigger runs_insert_text after insert on runs for each row execute function insert_run_text();
drop function insert_run_texts;
update run_texts set all_words = words where all_words is null;
alter table run_texts alter column all_words set not null;
create or replace trigger runs_announce_inbox after insert on runs for each row execute function announce_inbox();
drop function announce_inboxes;
create or replace trigger runs_audit_created after insert on runs for each row execute function record_audit_run('org_id');
drop function record_audit_runs;
create or replace trigger issues_audit_created after insert on issues for each row execute function record_audit_change('org_id');
drop function record_audit_creations;
