-- Fills the words of the missions that were there before; their messages and logs are read later, newest first.
-- up
with page as (
    select id, org_id, mission_title, prompt, created_at from runs where id > $1 order by id limit 500
  ),
  found as (
    select id, created_at, array_to_tsvector(array[org_id::text]) || words_of(left(concat_ws(' ', mission_title, prompt), 40000)) as words
    from page
  ),
  filled as (
    insert into run_texts (run_id, words, all_words, due_at) select id, words, words, created_at from found on conflict do nothing
  )
select max(id) as after from page
-- down
select 1;
