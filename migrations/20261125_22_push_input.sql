-- Whether the client of a task was told that it waits for a person: beside the status of its run, which the older process compares.
-- up
alter table a2a_push_configs add column told_input_required boolean not null default false;
-- down
alter table a2a_push_configs drop column told_input_required;
