-- A process of 0.2.0 searches all_words alone for callers who may read logs: while such a process can still run, each run has its words
-- there too. Without it, a run without logs would need the entries of one index only (search.ts reads both columns).
-- up
create or replace function insert_run_texts() returns trigger language plpgsql as $$ begin
  insert into run_texts (run_id, words, all_words, due_at)
    select id, found.words, found.words, created_at + 120000
    from added, lateral (select array_to_tsvector(array[org_id::text])
      || words_of(left(concat_ws(' ', mission_title, prompt, issue_text), 40000)) as words) found
    on conflict do nothing;
  return null;
end $$;
-- down
create or replace function insert_run_texts() returns trigger language plpgsql as $$ begin
  insert into run_texts (run_id, words, due_at)
    select id, array_to_tsvector(array[org_id::text]) || words_of(left(concat_ws(' ', mission_title, prompt, issue_text), 40000)),
      created_at + 120000
    from added on conflict do nothing;
  return null;
end $$;
