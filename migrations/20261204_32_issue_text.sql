-- The text of an existing issue that a run works on, as it was when the run was started, for the prompts of its agents.
-- up
alter table runs add column issue_text text;
-- down
alter table runs drop column issue_text;
