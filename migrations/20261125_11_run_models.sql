-- Which models a runtime brings credentials for, and which one the next step of a run needs.
-- up
-- Null: for all that its harnesses need.
alter table runtime_harnesses add column vendors text[];
-- Null: none, or that of any agent.
alter table runs add column next_vendor text;
-- down
alter table runs drop column next_vendor;
alter table runtime_harnesses drop column vendors;
