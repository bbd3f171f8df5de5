-- The runs of a recurring mission. These come before the rows are filled, so that deleting a mission finds its runs meanwhile.
-- up
-- An occurrence is run once, whoever finds it due. Pressing "run now" twice is meant twice.
create unique index concurrently if not exists runs_occurrence on runs (recurring_id, scheduled_for)
  where kind = 'scheduled' and recurring_id is not null;
create index concurrently if not exists runs_recurring on runs (recurring_id, created_at desc, id desc)
  where recurring_id is not null;
create index concurrently if not exists runs_recurring_open on runs (recurring_id)
  where status in ('dispatching', 'running') and recurring_id is not null;
-- down
drop index runs_recurring_open, runs_recurring, runs_occurrence;
