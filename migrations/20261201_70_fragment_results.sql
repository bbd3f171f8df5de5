-- How a tool call ended, as its runtime reports it; null in those of before.
-- up
alter table sandbox_fragments add column failed boolean, add column exit_code integer;
-- down
alter table sandbox_fragments drop column failed, drop column exit_code;
