-- Effects of missions outside of the platform that wait for a person, and the settings that say which ones wait.
-- up
-- {"waits": kinds, "allowedTools": names}; null means that nothing waits.
alter table projects add column effect_policy jsonb;
alter table sandbox_templates add column effect_policy jsonb;
alter table recurring_missions add column effect_policy jsonb;
-- The setting of the rule that started the run, as it was then.
alter table runs add column effect_policy jsonb;

create table outside_effects (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  -- The run that caused the effect; of several runs on one branch or issue the newest.
  run_id text collate "C" not null references runs on delete cascade,
  -- Words of the program, which grow without a migration.
  kind text not null,
  state text not null,
  -- Order in which the effects of a run are carried out.
  position integer not null,
  -- Names the thing outside: a later effect on it replaces one that waits.
  key text not null,
  payload jsonb not null,
  digest text not null,
  -- Why it failed, or why it is tried again.
  error text,
  -- Address of what was created; null without one.
  result_url text,
  decided_by_user_id text collate "C" references people on delete set null,
  decided_by text,
  decided_at bigint,
  committed_at bigint,
  -- The process that carries it out holds it until this time.
  lease_until bigint,
  attempts integer not null default 0,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index outside_effects_waiting on outside_effects (project_id, kind, key) where state in ('staged', 'failed');
create index outside_effects_key on outside_effects (project_id, kind, key);
create index outside_effects_run on outside_effects (run_id, position, created_at);
create index outside_effects_organization on outside_effects (org_id);
create index outside_effects_person on outside_effects (decided_by_user_id);
create trigger outside_effects_announce_inbox after insert on outside_effects for each row execute function announce_inbox();
create trigger outside_effects_announce_inbox_changed after update on outside_effects for each row
  when (old.state is distinct from new.state or old.digest is distinct from new.digest) execute function announce_inbox();

select background.create_queue('commit effects', '{"policy": "standard"}');
-- down
select background.delete_queue('commit effects');
drop table outside_effects;
alter table runs drop column effect_policy;
alter table recurring_missions drop column effect_policy;
alter table sandbox_templates drop column effect_policy;
alter table projects drop column effect_policy;
