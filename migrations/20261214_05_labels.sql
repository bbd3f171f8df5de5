-- Labels: a sandbox template asks for runtimes that have all of its labels.
-- up
alter table sandbox_templates add column labels text[] not null default '{}';
alter table runtime_harnesses add column labels text[] not null default '{}';
-- The sandbox template of the next step. Null before the first step.
alter table runs add column next_template_id text;
-- down
alter table runs drop column next_template_id;
alter table runtime_harnesses drop column labels;
alter table sandbox_templates drop column labels;
