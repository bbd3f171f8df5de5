-- Limits of a step in its sandbox template: time, calls of the model and tokens. Null: those of the service.
-- up
alter table sandbox_templates add column step_minutes integer, add column step_model_calls integer, add column step_tokens integer;
-- down
alter table sandbox_templates drop column step_minutes, drop column step_model_calls, drop column step_tokens;
