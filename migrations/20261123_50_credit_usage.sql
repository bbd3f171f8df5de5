-- What missions have spent so far, and how many they are, stand in each transfer of the ledger beside the balance: the usage of a
-- period is the difference of two rows. The next file fills the transfers that were there before.
-- up
alter table credit_transfers
  -- What missions have spent up to here, refunds not subtracted, and how many missions spent it.
  add column spent_after bigint,
  add column missions_after bigint;

create or replace function continue_credit_transfers() returns trigger language plpgsql as $$
declare last record;
begin
  select seq, balance_after, spent_after, missions_after into last from credit_transfers
    where org_id = new.org_id order by seq desc limit 1;
  if last.seq is not null and last.spent_after is null then
    select coalesce(-sum(amount), 0), count(distinct run_id) into last.spent_after, last.missions_after
      from credit_transfers where org_id = new.org_id and kind = 'spend';
  end if;
  new.seq := coalesce(last.seq, 0) + 1;
  new.balance_after := coalesce(last.balance_after, 0) + new.amount;
  new.spent_after := coalesce(last.spent_after, 0);
  new.missions_after := coalesce(last.missions_after, 0);
  if new.kind = 'spend' then
    new.spent_after := new.spent_after - new.amount;
    if not exists (select from credit_transfers where run_id = new.run_id and org_id = new.org_id and kind = 'spend') then
      new.missions_after := new.missions_after + 1;
    end if;
  end if;
  return new;
end $$;

-- The only change of a transfer: what the columns above were not filled with.
create function fill_credit_usage() returns trigger language plpgsql as $$
begin
  if old.spent_after is null
    and to_jsonb(new) - 'spent_after' - 'missions_after' = to_jsonb(old) - 'spent_after' - 'missions_after' then
    return new;
  end if;
  raise exception 'credit_transfers is append-only' using errcode = 'restrict_violation';
end $$;
drop trigger credit_transfers_append_only on credit_transfers;
create trigger credit_transfers_append_only before delete on credit_transfers
  for each row execute function refuse_credit_change();
create trigger credit_transfers_no_update before update on credit_transfers
  for each row execute function fill_credit_usage();
-- down
drop trigger credit_transfers_no_update on credit_transfers;
drop trigger credit_transfers_append_only on credit_transfers;
create trigger credit_transfers_append_only before update or delete on credit_transfers
  for each row execute function refuse_credit_change();
drop function fill_credit_usage();
create or replace function continue_credit_transfers() returns trigger language plpgsql as $$
declare last record;
begin
  select seq, balance_after into last from credit_transfers where org_id = new.org_id order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.balance_after := coalesce(last.balance_after, 0) + new.amount;
  return new;
end $$;
alter table credit_transfers drop column spent_after, drop column missions_after;
