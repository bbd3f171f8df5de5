-- Queues the runs that ended before, so that their logs are moved too.
-- up
with page as (select id, org_id, finished_at from runs where id > $1 order by id limit 500),
  filled as (
    insert into unarchived_runs (org_id, run_id, ended_at) select org_id, id, finished_at from page where finished_at is not null
    on conflict do nothing
  )
select max(id) as after from page
-- down
select 1;
