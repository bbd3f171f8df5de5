-- Who last set what a recurring mission runs (its runs are billed to them), and what deleting a project leaves of its credentials.
-- up
-- Null in rows that the creator alone has set.
alter table scheduled_tasks add column updated_by_user_id text references people;
alter table automations add column updated_by_user_id text references people;

-- Source hosts do not tell upper from lower case; the owner alone is found by projects_repository.
create index projects_repository_name on projects (org_id, lower(scm_repo));

-- The history of credentials outlives their project: the id stays, and the row is revoked by the deletion itself, in whichever
-- release of the service it happens. A bound credential must never become an org-wide one, hence no "set null".
alter table tokens drop constraint tokens_project_id_fkey;
alter table sign_ins drop constraint sign_ins_project_id_fkey;
alter table agent_registrations drop constraint agent_registrations_project_id_fkey;
create function revoke_project_credentials() returns trigger language plpgsql as $$
declare
  -- The service passes its own clock; a release that does not know of this has the server's.
  at bigint := coalesce(nullif(current_setting('app.now', true), '')::bigint,
    (extract(epoch from clock_timestamp()) * 1000)::bigint);
begin
  -- Access tokens are refused with the sign-in or registration behind them.
  update tokens set revoked_at = at where project_id = old.id and revoked_at is null;
  update sign_ins set revoked_at = at where project_id = old.id and revoked_at is null;
  update agent_registrations set revoked_at = at, generation = generation + 1
    where project_id = old.id and revoked_at is null;
  return old;
end $$;
create trigger projects_revoke_credentials before delete on projects
  for each row execute function revoke_project_credentials();
-- down
drop trigger projects_revoke_credentials on projects;
drop function revoke_project_credentials();
delete from agent_registrations where project_id not in (select id from projects);
delete from sign_ins where project_id not in (select id from projects);
delete from tokens where project_id not in (select id from projects);
alter table agent_registrations add constraint agent_registrations_project_id_fkey
  foreign key (project_id) references projects on delete cascade;
alter table sign_ins add constraint sign_ins_project_id_fkey
  foreign key (project_id) references projects on delete cascade;
alter table tokens add constraint tokens_project_id_fkey foreign key (project_id) references projects on delete cascade;
drop index projects_repository_name;
alter table automations drop column updated_by_user_id;
alter table scheduled_tasks drop column updated_by_user_id;
