-- Triggers that did not use an index. PostgreSQL compares `new.id`, whose collation is "C", with a column of the default collation by "C", so
-- each new transfer read the whole table of entries, and the deletion of a project all tokens. The check of the entries joins each transfer
-- with its entries by their index, whatever the statistics say.
-- up
create or replace function require_credit_entries() returns trigger language plpgsql as $$
begin
  if new.amount <> 0 and not exists (select from credit_entries where transfer_id = new.id collate "default")
    and exists (select from credit_transfers where id = new.id) then
    raise exception 'a credit transfer has no entries' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create or replace function balance_credit_entries() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct transfer_id from added) a cross join lateral (
      select e.lot_id, sum(e.amount) as amount, sum(e.amount) filter (where e.account in ('available', 'reserved')) as owned
      from credit_entries e where e.transfer_id = a.transfer_id group by e.lot_id
    ) s join credit_transfers t on t.id = a.transfer_id left join credit_lots l on l.id = s.lot_id
    group by t.id
    having bool_or(s.amount <> 0) or bool_or(l.org_id is distinct from t.org_id) or coalesce(sum(s.owned), 0) <> t.amount
  ) then
    raise exception 'the entries of a credit transfer do not balance' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create or replace function revoke_project_credentials() returns trigger language plpgsql as $$
declare
  -- The service passes its own clock; a release that does not know of this has the server's.
  at bigint := coalesce(nullif(current_setting('app.now', true), '')::bigint,
    (extract(epoch from clock_timestamp()) * 1000)::bigint);
  project text collate "default" := old.id;
begin
  -- Access tokens are refused with the sign-in or registration behind them.
  update tokens set revoked_at = at where project_id = project and revoked_at is null;
  update sign_ins set revoked_at = at where project_id = project and revoked_at is null;
  update agent_registrations set revoked_at = at, generation = generation + 1
    where project_id = project and revoked_at is null;
  return old;
end $$;
-- down
create or replace function revoke_project_credentials() returns trigger language plpgsql as $$
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
create or replace function balance_credit_entries() returns trigger language plpgsql as $$
begin
  if exists (
    select from (
      select e.transfer_id, e.lot_id, sum(e.amount) as amount,
        sum(e.amount) filter (where e.account in ('available', 'reserved')) as owned
      from (select distinct transfer_id from added) a join credit_entries e on e.transfer_id = a.transfer_id
      group by e.transfer_id, e.lot_id
    ) s join credit_transfers t on t.id = s.transfer_id left join credit_lots l on l.id = s.lot_id
    group by t.id
    having bool_or(s.amount <> 0) or bool_or(l.org_id is distinct from t.org_id) or coalesce(sum(s.owned), 0) <> t.amount
  ) then
    raise exception 'the entries of a credit transfer do not balance' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create or replace function require_credit_entries() returns trigger language plpgsql as $$
begin
  if new.amount <> 0 and not exists (select from credit_entries where transfer_id = new.id)
    and exists (select from credit_transfers where id = new.id) then
    raise exception 'a credit transfer has no entries' using errcode = 'check_violation';
  end if;
  return null;
end $$;
