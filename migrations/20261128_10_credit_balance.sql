-- The check of a transfer's entries sums them up before it looks at lots and transfers: a transfer may have hundreds of entries. It
-- accepts and refuses what it did.
-- up
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
-- down
create or replace function balance_credit_entries() returns trigger language plpgsql as $$
begin
  if exists (
    select from credit_entries e join credit_transfers t on t.id = e.transfer_id join credit_lots l on l.id = e.lot_id
    where e.transfer_id in (select transfer_id from added)
    group by e.transfer_id, e.lot_id having sum(e.amount) <> 0 or bool_or(t.org_id <> l.org_id)
  ) or exists (
    select from credit_entries e join credit_transfers t on t.id = e.transfer_id
    where e.transfer_id in (select transfer_id from added)
    group by e.transfer_id, t.amount
    having coalesce(sum(e.amount) filter (where e.account in ('available', 'reserved')), 0) <> t.amount
  ) then
    raise exception 'the entries of a credit transfer do not balance' using errcode = 'check_violation';
  end if;
  return null;
end $$;
