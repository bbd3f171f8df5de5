-- The audit log: triggers write each change of a record in its transaction, whichever program or process makes it; after the commit it gets
-- the next number of its organization (docs/decisions/0061-the-database-records-changes.md).
-- up
-- Changes without a number yet.
create table audit_changes (
  id bigint generated always as identity primary key,
  org_id text collate "C" not null,
  source text not null,
  -- Who changes, as JSON of src/foundation/postgres/origin.ts; null for a program that does not say.
  origin text,
  before jsonb,
  after jsonb
);
create index audit_changes_org on audit_changes (org_id, id);

create table audit_counters (
  org_id text collate "C" primary key references organizations on delete cascade,
  last_number bigint not null default 0,
  last_at bigint not null default 0
);

create table audit_events (
  org_id text collate "C" not null references organizations on delete cascade,
  number bigint not null,
  -- When the event got its number: never before that of an earlier number, whatever the clock says.
  created_at bigint not null,
  occurred_at bigint not null,
  action text not null,
  actor_type text not null,
  actor_id text,
  on_behalf_of text,
  credential_id text,
  surface text,
  operation text,
  request_id text,
  source_address text,
  project_id text,
  -- The changed record, and the mission it belongs to or else the record itself: the history of a mission is one read.
  target_type text not null,
  target_id text not null,
  target_name text,
  subject_id text not null,
  changes jsonb not null,
  primary key (org_id, number, created_at)
) partition by range (created_at);
create table audit_events_default partition of audit_events default;
create index audit_events_subject on audit_events (org_id, subject_id, number desc);
create index audit_events_project on audit_events (org_id, project_id, number desc);
create index audit_events_actor on audit_events (org_id, actor_id, number desc);
create index audit_events_person on audit_events (org_id, on_behalf_of, number desc) where on_behalf_of is not null;
create index audit_events_target_type on audit_events (org_id, target_type, number desc);

-- The first argument is the column of the organization.
create function record_audit_change() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
  before jsonb := to_jsonb(old);
  after jsonb := to_jsonb(new);
  org text := coalesce(after, before) ->> tg_argv[0];
begin
  if org is not null and origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, before, after) values (org, tg_table_name, origin, before, after);
  end if;
  return null;
end $$;

-- A person’s change is an event in each organization of the person. The first argument is the column of the person.
create function record_audit_change_of_person() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, before, after)
      select m.org_id, tg_table_name, origin, to_jsonb(old), to_jsonb(new) from memberships m
      where m.user_id = coalesce(to_jsonb(new), to_jsonb(old)) ->> tg_argv[0] and m.closed_at is null;
  end if;
  return null;
end $$;

-- The grant of an MCP server, whose organization is that of the server.
create function record_audit_grant() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('audit.origin', true), '') <> 'off' then
    insert into audit_changes (org_id, source, origin, before, after)
      select b.org_id, 'mcp_grants', nullif(current_setting('audit.origin', true), ''), to_jsonb(old) || named, to_jsonb(new) || named
      from mcp_bindings b, lateral jsonb_build_object('project_id', b.project_id, 'server_name', b.server_name) named
      where b.id = coalesce(new.binding_id, old.binding_id);
  end if;
  return null;
end $$;
create trigger mcp_grants_audit_created after insert on mcp_grants for each row execute function record_audit_grant();
create trigger mcp_grants_audit_deleted after delete on mcp_grants
  for each row when (pg_trigger_depth() = 0) execute function record_audit_grant();

-- Runs have a hundred columns and change often: only what people decide and see is recorded.
create function audit_run(r runs) returns jsonb language sql immutable as $$
  select case when r.id is not null then jsonb_build_object(
    'id', r.id, 'org_id', r.org_id, 'project_id', r.project_id, 'kind', r.kind, 'status', r.status, 'reason', r.reason,
    'mission_title', r.mission_title, 'recurring_id', r.recurring_id, 'agent_id', r.agent_id,
    'billing_actor_user_id', r.billing_actor_user_id, 'handed_to_user_id', r.handed_to_user_id, 'budget_usd', r.budget_usd,
    'max_minutes', r.max_minutes, 'max_model_calls', r.max_model_calls, 'max_tokens', r.max_tokens,
    'pr_state', r.pr_state, 'approved_sha', r.approved_sha, 'awaits_approval', r.awaits_approval, 'attempt_state', r.attempt_state) end
$$;
create function record_audit_run() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, before, after)
      values (new.org_id, 'runs', origin, audit_run(old), audit_run(new));
  end if;
  return null;
end $$;

-- Events of `table_name`: creation, changes of `columns` (all when null), and deletion, except as part of that of its parent.
create function audit_table(table_name text, columns text, events text, of text, recorder text) returns void language plpgsql as $$
begin
  if events like '%c%' then
    execute format('create trigger %1$I after insert on %2$I for each row execute function %3$I(%4$L)',
      table_name || '_audit_created', table_name, recorder, of);
  end if;
  if events like '%u%' then
    execute format('create trigger %1$I after update %5$s on %2$I for each row when (%6$s) execute function %3$I(%4$L)',
      table_name || '_audit_updated', table_name, recorder, of, coalesce('of ' || columns, ''), coalesce(
        (select string_agg(format('old.%1$s is distinct from new.%1$s', trim(name)), ' or ') from string_to_table(columns, ',') name),
        'old.* is distinct from new.*'));
  end if;
  if events like '%d%' then
    execute format('create trigger %1$I after delete on %2$I for each row when (pg_trigger_depth() = 0) execute function %3$I(%4$L)',
      table_name || '_audit_deleted', table_name, recorder, of);
  end if;
end $$;
-- The locks come in the order in which a mission that is due takes them.
select audit_table('recurring_missions', 'name, prompt, template_key, triggers, event_triggers, labels, skip_if_previous_open,
  enabled, agent_id, effect_policy', 'cud', 'org_id', 'record_audit_change');
select audit_table('runs', 'status, handed_to_user_id, budget_usd, max_minutes, max_model_calls, max_tokens, pr_state, approved_sha,
  awaits_approval, attempt_state', 'cu', 'org_id', 'record_audit_run');
select audit_table(one, null, 'cud', 'org_id', 'record_audit_change') from unnest(array[
  'memberships', 'projects', 'host_accounts', 'sandbox_templates', 'budgets', 'orchestrators', 'mcp_configs', 'chat_channels']) one;
select audit_table('organizations', 'name, slug, closed_at', 'cu', 'id', 'record_audit_change');
select audit_table('people', 'email, name, disabled_at', 'u', 'id', 'record_audit_change_of_person');
select audit_table('passkeys', 'name', 'cud', 'person_id', 'record_audit_change_of_person');
select audit_table('sessions', 'ended_at', 'cu', 'person_id', 'record_audit_change_of_person');
select audit_table(one ->> 0, one ->> 1, one ->> 2, 'org_id', 'record_audit_change') from jsonb_array_elements('[
  ["invites", "role, accepted_at, revoked_at", "cu"],
  ["integrations", "external_org_id, display_name, sealed_credentials, broken_since, base_url, models", "cud"],
  ["agents", "name, role, harness, model, effort, sandbox_template_id, user_prompt, skill_repos, version, trial_version, trial_percent", "cud"],
  ["secrets", "sealed_value, hosts, setup_only, name, kind, scope", "cud"],
  ["inbound_hooks", "name, vendor, signature, signature_header, sealed_secret, enabled, integration_id", "cud"],
  ["chat_connections", "workspace_id, bot_user_id", "cud"],
  ["issues", "title, body, labels, state, agent_id, assignee_user_id", "cud"],
  ["issue_comments", "body", "cud"],
  ["attempt_groups", "state, chosen_run_id", "cu"],
  ["run_shares", "revoked_at", "cu"],
  ["run_messages", null, "c"],
  ["reviews", null, "c"],
  ["review_comments", "resolved_at", "u"],
  ["pull_request_threads", "is_resolved", "u"],
  ["outside_effects", "state", "cu"],
  ["sandboxes", "status", "cu"],
  ["environments", "status", "cud"],
  ["terminals", "ended_at", "cu"],
  ["mcp_bindings", "enabled, roles, pinned_url, package_spec, allowed_egress_hosts, sealed_headers, sealed_credentials, credential_fields, needs_authorization, approved_tools", "cud"],
  ["a2a_push_configs", "url", "cud"],
  ["tokens", "revoked_at", "cu"],
  ["service_tokens", "revoked_at", "cu"],
  ["sign_ins", "revoked_at, scopes, project_id", "cu"],
  ["agent_registrations", "org_id, user_id, project_id, scopes, claimed_at, revoked_at", "cu"],
  ["billing_settings", "tracker_triggers, is_enterprise", "cu"],
  ["billing_checkouts", "status", "cu"],
  ["billing_orders", "status, withdrawn_at, refunded_at", "cu"],
  ["billing_subscriptions", "plan, next_plan, status", "cu"],
  ["credit_requests", "messages, closed_at", "cu"],
  ["setup_guides", "step, completed_at", "cu"],
  ["setup_milestones", "mark", "cu"],
  ["org_closures", "settled_at", "cu"],
  ["org_exports", "status, requested_at", "cu"]]'::jsonb) one;
create trigger inbound_deliveries_audit_created after insert on inbound_deliveries
  for each row when (new.redelivery_of is not null) execute function record_audit_change('org_id');
-- An event that waits for a person is approved or dismissed by one; all other moves are the service’s own.
create trigger inbound_deliveries_audit_updated after update of status on inbound_deliveries
  for each row when (old.status = 'waiting' and new.status <> 'waiting') execute function record_audit_change('org_id');
drop function audit_table;
-- down
drop function record_audit_change() cascade;
drop function record_audit_change_of_person() cascade;
drop function record_audit_run() cascade;
drop function record_audit_grant() cascade;
drop function audit_run(runs);
drop table audit_events;
drop table audit_counters;
drop table audit_changes;
