-- The keys that the previous files have replaced. An entry of the ledger is deleted with its transfer, and the check of a transfer also
-- covers that its lots exist: a lot is deleted with its organization alone.
-- up
alter table runs drop constraint runs_org_id_fkey, drop constraint runs_project_id_fkey;
alter table issues drop constraint issues_org_id_fkey, drop constraint issues_project_id_fkey;
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
alter table credit_entries drop constraint credit_entries_lot_id_fkey;
-- down
alter table credit_entries add constraint credit_entries_lot_id_fkey foreign key (lot_id) references credit_lots on delete cascade;
create or replace function balance_credit_entries() returns trigger language plpgsql as $$
begin
  if exists (
    select from (
      select e.transfer_id, e.lot_id, sum(e.amount) as amount,
        sum(e.amount) filter (where e.account in ('available', 'reserved')) as owned
      from (select distinct transfer_id from added) a join credit_entries e on e.transfer_id = a.transfer_id
      group by e.transfer_id, e.lot_id
    ) s join credit_transfers t on t.id = s.transfer_id join credit_lots l on l.id = s.lot_id
    group by t.id
    having bool_or(s.amount <> 0) or bool_or(t.org_id <> l.org_id) or coalesce(sum(s.owned), 0) <> t.amount
  ) then
    raise exception 'the entries of a credit transfer do not balance' using errcode = 'check_violation';
  end if;
  return null;
end $$;
alter table issues
  add constraint issues_org_id_fkey foreign key (org_id) references organizations on delete cascade,
  add constraint issues_project_id_fkey foreign key (project_id) references projects on delete cascade;
alter table runs
  add constraint runs_org_id_fkey foreign key (org_id) references organizations on delete cascade,
  add constraint runs_project_id_fkey foreign key (project_id) references projects on delete cascade;
