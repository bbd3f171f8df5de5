-- Model calls in progress, each with the most that it may cost, and why a run waits before its next call.
-- up
create table model_calls (
  run_id text collate "C" not null references runs on delete cascade,
  -- The runtime's own id of it.
  call_id text not null,
  org_id text not null references organizations on delete cascade,
  -- Millionths of a US dollar.
  amount bigint not null check (amount >= 0),
  output_tokens integer not null,
  created_at bigint not null,
  primary key (run_id, call_id)
);
create index model_calls_org on model_calls (org_id) include (amount);
alter table runs
  -- Whether its runtime reserves each model call.
  add column is_metered boolean not null default false,
  -- budget, credits or cap.
  add column parked_by text,
  add column parked_reason text,
  add column parked_at bigint;
-- down
alter table runs drop column is_metered, drop column parked_by, drop column parked_reason, drop column parked_at;
drop table model_calls;
