-- Limits of a whole mission, and the minutes for which missions hold their sandboxes.
-- up
alter table sandbox_templates
  add column max_minutes integer,
  add column max_model_calls integer,
  add column max_tokens integer;
alter table runs
  -- As the start says or, from the first claim on, the sandbox template. Null: the operator's bound.
  add column max_minutes integer,
  add column max_model_calls integer,
  add column max_tokens integer,
  -- Begun minutes of the sandbox, and the part of the cost that they are.
  add column sandbox_minutes integer not null default 0,
  add column sandbox_cost_usd numeric(14, 6) not null default 0,
  -- Model calls that were reserved, or reported without a reservation.
  add column model_calls integer not null default 0,
  -- End of the present minute.
  add column minute_until bigint,
  -- End of the time in which the runtime of a run without a further minute saves its work.
  add column pauses_at bigint;
-- down
alter table runs drop column max_minutes, drop column max_model_calls, drop column max_tokens, drop column sandbox_minutes,
  drop column sandbox_cost_usd, drop column model_calls, drop column minute_until, drop column pauses_at;
alter table sandbox_templates drop column max_minutes, drop column max_model_calls, drop column max_tokens;
