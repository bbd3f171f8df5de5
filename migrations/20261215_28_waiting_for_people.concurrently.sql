-- Runs that wait for a person among those that wait: periodic work finds them without reading thousands that wait for a runtime.
-- up
create index concurrently if not exists runs_waiting_person on runs (parked_at) where status = 'dispatching' and (awaits_approval or parked_at is not null);
-- down
drop index runs_waiting_person;
