-- Names of the runtimes of a token that take no new missions.
-- up
alter table service_tokens add column draining text[] not null default '{}';
drop trigger service_tokens_audit_updated on service_tokens;
create trigger service_tokens_audit_updated after update of revoked_at, draining on service_tokens
  for each row when ((old.revoked_at, old.draining) is distinct from (new.revoked_at, new.draining))
  execute function record_audit_change('org_id');
-- down
drop trigger service_tokens_audit_updated on service_tokens;
create trigger service_tokens_audit_updated after update of revoked_at on service_tokens
  for each row when (old.revoked_at is distinct from new.revoked_at) execute function record_audit_change('org_id');
alter table service_tokens drop column draining;
