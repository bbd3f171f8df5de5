-- Credits of organizations: an append-only ledger with double entries in millionths of a credit, what missions hold of them, and
-- which missions are to be settled. The triggers make runs and costs of the previous release count as well.
-- up
-- This and the next files create triggers. The locks come in the order in which a mission that is due takes them.
lock table recurring_missions, runs in share row exclusive mode;

-- What was granted or bought at once: its credits expire together.
create table credit_lots (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  kind text not null check (kind in ('trial', 'pack', 'subscription', 'grant')),
  order_id text,
  -- Null: at once.
  starts_at bigint,
  -- Null: never.
  expires_at bigint,
  created_at bigint not null
);
create unique index credit_lots_trial on credit_lots (org_id) where kind = 'trial';
create unique index credit_lots_order on credit_lots (order_id);
create index credit_lots_org on credit_lots (org_id);

-- The journal. A trigger sets `seq` and `balance_after`.
create table credit_transfers (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  seq bigint not null,
  kind text not null
    check (kind in ('grant', 'purchase', 'spend', 'refund', 'withdrawal', 'expiry', 'reserve', 'release')),
  -- What it adds to the credits that the organization owns, reserved ones included.
  amount bigint not null check (abs(amount) <= 1000000000000000),
  balance_after bigint not null constraint credit_balance check (balance_after >= 0),
  -- The part of a mission's cost for which there were no credits.
  uncovered bigint not null default 0 check (uncovered >= 0),
  run_id text,
  order_id text,
  note text,
  created_at bigint not null,
  constraint credit_transfers_seq unique (org_id, seq)
);
create index credit_transfers_listed on credit_transfers (org_id, seq) where amount <> 0;
create index credit_transfers_run on credit_transfers (run_id) where run_id is not null;

-- The entries of a transfer. `issued`, where credits come from, is negative; the other accounts of a lot never are.
create table credit_entries (
  transfer_id text not null references credit_transfers on delete cascade,
  lot_id text not null references credit_lots on delete cascade,
  account text not null check (account in ('issued', 'available', 'reserved', 'spent', 'expired', 'withdrawn')),
  -- The run that the account `reserved` is for; empty for the others.
  run_id text not null default '',
  amount bigint not null check (amount <> 0),
  seq bigint not null,
  balance_after bigint not null constraint credit_account_balance check (account = 'issued' or balance_after >= 0),
  primary key (lot_id, account, run_id, seq),
  check ((account = 'reserved') = (run_id <> ''))
);
create index credit_entries_transfer on credit_entries (transfer_id);
create index credit_entries_reserved on credit_entries (run_id, lot_id, seq) where account = 'reserved';

create function continue_credit_transfers() returns trigger language plpgsql as $$
declare last record;
begin
  select seq, balance_after into last from credit_transfers where org_id = new.org_id order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.balance_after := coalesce(last.balance_after, 0) + new.amount;
  return new;
end $$;
create trigger credit_transfers_continue before insert on credit_transfers
  for each row execute function continue_credit_transfers();

create function continue_credit_entries() returns trigger language plpgsql as $$
declare last record;
begin
  select seq, balance_after into last from credit_entries
    where lot_id = new.lot_id and account = new.account and run_id = new.run_id order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.balance_after := coalesce(last.balance_after, 0) + new.amount;
  return new;
end $$;
create trigger credit_entries_continue before insert on credit_entries
  for each row execute function continue_credit_entries();

-- Per transfer and lot the entries sum to zero, and those of the credits that the organization owns to the transfer's amount.
create function balance_credit_entries() returns trigger language plpgsql as $$
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
create trigger credit_entries_balance after insert on credit_entries referencing new table as added
  for each statement execute function balance_credit_entries();

create function require_credit_entries() returns trigger language plpgsql as $$
begin
  if new.amount <> 0 and not exists (select from credit_entries where transfer_id = new.id)
    and exists (select from credit_transfers where id = new.id) then
    raise exception 'a credit transfer has no entries' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger credit_transfers_entered after insert on credit_transfers deferrable initially deferred
  for each row execute function require_credit_entries();

-- The ledger is only appended to; it goes when its organization is deleted.
create function refuse_credit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if tg_table_name = 'credit_entries' then
      if not exists (select from credit_lots where id = old.lot_id)
        or not exists (select from credit_transfers where id = old.transfer_id) then return old; end if;
    elsif not exists (select from organizations where id = old.org_id) then return old;
    end if;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger credit_lots_append_only before update or delete on credit_lots
  for each row execute function refuse_credit_change();
create trigger credit_transfers_append_only before update or delete on credit_transfers
  for each row execute function refuse_credit_change();
create trigger credit_entries_append_only before update or delete on credit_entries
  for each row execute function refuse_credit_change();
create trigger credit_lots_no_truncate before truncate on credit_lots
  for each statement execute function refuse_credit_change();
create trigger credit_transfers_no_truncate before truncate on credit_transfers
  for each statement execute function refuse_credit_change();
create trigger credit_entries_no_truncate before truncate on credit_entries
  for each statement execute function refuse_credit_change();

-- Missions whose cost or end has to be booked.
create table credit_reviews (
  run_id text primary key,
  org_id text not null references organizations on delete cascade,
  is_over boolean not null
);
create index credit_reviews_org on credit_reviews (org_id);
-- Missions under way whose cost has used up the credits, and since when.
create table credit_exhaustions (
  run_id text primary key,
  org_id text not null references organizations on delete cascade,
  reason text not null,
  at bigint not null
);
create index credit_exhaustions_org on credit_exhaustions (org_id);
create index credit_exhaustions_at on credit_exhaustions (at);

-- A run that never was at a runtime, such as one of the demo's past, has no lease and is not charged.
create function review_mission_cost() returns trigger language plpgsql as $$
begin
  insert into credit_reviews (run_id, org_id, is_over)
    select r.id, r.org_id, r.status not in ('dispatching', 'running') from runs r
    where r.id = new.run_id and r.lease_id is not null
    -- Locks the row until this transaction ends: it is not reviewed without this cost.
    on conflict (run_id) do update set is_over = credit_reviews.is_over or excluded.is_over;
  return null;
end $$;
create trigger mission_costs_review after insert on mission_costs
  for each row when (new.run_id is not null and new.usd > 0) execute function review_mission_cost();

create function review_ended_run() returns trigger language plpgsql as $$
begin
  insert into credit_reviews (run_id, org_id, is_over)
    select old.id, o.id, true from organizations o where o.id = old.org_id
    on conflict (run_id) do update set is_over = true;
  return null;
end $$;
create trigger runs_review after update of status on runs for each row
  when (old.status in ('dispatching', 'running') and new.status in ('completed', 'failed', 'canceled'))
  execute function review_ended_run();
create trigger runs_review_deleted after delete on runs for each row
  when (old.status in ('dispatching', 'running')) execute function review_ended_run();
-- down
drop trigger runs_review_deleted on runs;
drop trigger runs_review on runs;
drop function review_ended_run();
drop trigger mission_costs_review on mission_costs;
drop function review_mission_cost();
drop table credit_exhaustions, credit_reviews, credit_entries, credit_transfers, credit_lots;
drop function continue_credit_transfers(), continue_credit_entries(), balance_credit_entries(), require_credit_entries(),
  refuse_credit_change();
