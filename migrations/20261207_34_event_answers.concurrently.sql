-- Open runs that events have started: their answers say whether they wait for a person.
-- up
create index concurrently if not exists runs_origins on runs (id)
  where origin_delivery_id is not null and status in ('dispatching', 'running');
-- down
drop index runs_origins;
