-- Missions that outsiders start work in the sandbox template that the rule of their event names.
-- up
alter table runs add column sandbox_template_id text;
-- down
alter table runs drop column sandbox_template_id;
