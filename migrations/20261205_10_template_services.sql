-- Services beside a mission: containers that a sandbox template starts with it.
-- up
-- A list of `{name, image, variables, command, healthCheck}`.
alter table sandbox_templates add column services jsonb not null default '[]';
-- down
alter table sandbox_templates drop column services;
