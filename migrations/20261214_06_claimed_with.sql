-- The token of the runtime that has claimed a run, and whether the token serves all organizations; what a runtime answers from recordings.
-- up
alter table runs add column claimed_with text, add column is_shared boolean not null default true;
alter table runtime_harnesses add column replays boolean not null default false;
-- down
alter table runtime_harnesses drop column replays;
alter table runs drop column is_shared, drop column claimed_with;
