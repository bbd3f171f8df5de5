-- Some days after its end, the details of a run are deleted; the figures that remain of them are kept with the run
-- (docs/decisions/0089-runs-keep-their-result.md).
-- up
alter table retention_settings add column run_days integer;
-- Null while the run has its details.
alter table runs add column kept jsonb;
-- down
alter table runs drop column kept;
alter table retention_settings drop column run_days;
