-- Closed organizations, and which steps of their closure are done. `organizations.closed_at` exists since the first release.
-- up
create table org_closures (
  org_id text collate "C" primary key references organizations on delete cascade,
  basis text not null check (basis in ('owner', 'service')),
  closed_at bigint not null,
  closed_by_user_id text references people on delete set null,
  steps_done integer not null default 0,
  settlements jsonb not null default '[]',
  -- When the last step was done.
  settled_at bigint
);
create index org_closures_person on org_closures (closed_by_user_id);
create index org_closures_unsettled on org_closures (closed_at) where settled_at is null;
create index org_closures_closed on org_closures (closed_at);

-- When the organization was closed: the statement that looks up a credential reads it here.
alter table memberships add column closed_at bigint;

-- A membership that is created while the organization is being closed is closed too: the lock waits for that transaction.
create function close_new_membership() returns trigger language plpgsql as $$
begin
  select closed_at into new.closed_at from organizations where id = new.org_id for share;
  return new;
end $$;
create trigger memberships_close before insert on memberships for each row execute function close_new_membership();
-- down
drop trigger memberships_close on memberships;
drop function close_new_membership();
alter table memberships drop column closed_at;
drop table org_closures;
