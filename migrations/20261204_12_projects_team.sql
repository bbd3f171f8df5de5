-- Whether missions of a project work with a planner, a reviewer and QA; null: with those that the organization has of its own.
-- up
alter table projects add column has_team boolean;
-- down
alter table projects drop column has_team;
