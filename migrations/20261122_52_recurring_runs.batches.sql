-- Names the recurring mission of the runs that were there before; a trigger names that of new ones.
-- up
with page as (select id from runs where id > $1 order by id limit 500),
  missions as (
    -- Before the runs, as a deletion of the mission does it.
    select m.id from recurring_missions m
    where m.id in (select coalesce(r.scheduled_task_id, r.automation_id) from runs r join page on page.id = r.id)
    for key share
  ),
  named as (
    update runs r set recurring_id = m.id from page, missions m
    where r.id = page.id and m.id = coalesce(r.scheduled_task_id, r.automation_id) and r.recurring_id is null
  )
select max(id) as after from page
-- down
