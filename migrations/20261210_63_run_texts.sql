-- Search of missions by words: a mission is found at once by its title and prompt, and later by its messages, transcript and logs.
-- up
-- Words of a text, each a run of letters and digits, in lower case. Positions are not kept.
create function words_of(value text) returns tsvector language sql immutable parallel safe as $$
  select strip(to_tsvector('simple', translate(value, './\\_-:@#=+"''<>()[]{}|,;&?%$~*^`!', repeat(' ', 32))))
$$;

create table run_texts (
  run_id text collate "C" primary key references runs on delete cascade,
  -- The organization, as one of the words, and those of the title, the prompt and the messages.
  words tsvector not null,
  -- Those words, and those of the transcript and the logs.
  all_words tsvector not null,
  -- When the texts of the run are read next; null: they do not change.
  due_at bigint,
  -- When the words of its logs are removed; null while the run is open, and afterwards.
  logs_until bigint
);
create index run_texts_words on run_texts using gin (words);
create index run_texts_all_words on run_texts using gin (all_words);
create index run_texts_due on run_texts (due_at) where due_at is not null;
create index run_texts_logs_until on run_texts (logs_until) where logs_until is not null;

create function insert_run_text() returns trigger language plpgsql as $$
declare found_words tsvector := array_to_tsvector(array[new.org_id::text])
  || words_of(left(concat_ws(' ', new.mission_title, new.prompt), 40000));
begin
  insert into run_texts (run_id, words, all_words, due_at) values (new.id, found_words, found_words, new.created_at) on conflict do nothing;
  return null;
end $$;
create trigger runs_insert_text after insert on runs for each row execute function insert_run_text();
-- down
drop trigger runs_insert_text on runs;
drop function insert_run_text;
drop table run_texts;
drop function words_of;
