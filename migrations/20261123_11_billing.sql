-- What organizations buy: checkouts, orders, subscriptions, settings, requests for credits, and the provider events seen so far.
-- up
create table billing_settings (
  org_id text primary key references organizations on delete cascade,
  tracker_triggers text not null default 'anyone' check (tracker_triggers in ('anyone', 'members', 'off')),
  -- Agreed with the operator; only they set it.
  is_enterprise boolean not null default false,
  updated_at bigint not null
);

create table billing_checkouts (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  offer text not null check (offer in ('pack', 'team')),
  quantity integer not null check (quantity between 1 and 1000),
  team_plan text check (team_plan in ('team-5', 'team-20')),
  credits integer not null check (credits > 0),
  amount_cents bigint not null check (amount_cents > 0),
  starts_now boolean not null,
  status text not null check (status in ('open', 'complete', 'expired')),
  provider text not null,
  -- The provider's own id of the payment page.
  reference text,
  created_by_user_id text references people on delete set null,
  created_at bigint not null,
  expires_at bigint not null,
  check ((offer = 'team') = (team_plan is not null))
);
create index billing_checkouts_org on billing_checkouts (org_id, created_at desc);
create index billing_checkouts_person on billing_checkouts (created_by_user_id);
create index billing_checkouts_open on billing_checkouts (expires_at) where status = 'open';

create table billing_orders (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  offer text not null check (offer in ('pack', 'team')),
  team_plan text,
  credits integer not null check (credits > 0),
  amount_cents bigint not null check (amount_cents > 0),
  status text not null check (status in ('paid', 'withdrawn')),
  provider text not null,
  -- The provider's own id of the payment: one payment is one order.
  payment text not null,
  created_at bigint not null,
  -- Null: nothing can be withdrawn.
  withdrawable_until bigint,
  withdrawn_at bigint,
  withdrawal_reason text,
  refund_cents bigint check (refund_cents between 0 and amount_cents),
  -- When the provider has accepted the refund.
  refunded_at bigint,
  constraint billing_orders_payment unique (provider, payment),
  check ((status = 'withdrawn') = (withdrawn_at is not null and refund_cents is not null))
);
create index billing_orders_org on billing_orders (org_id, created_at desc, id desc);

create table billing_subscriptions (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  plan text not null check (plan in ('team-5', 'team-20')),
  -- From the next period on; null: stays.
  next_plan text check (next_plan in ('team-5', 'team-20')),
  status text not null check (status in ('active', 'canceling', 'canceled')),
  period_start bigint not null,
  current_period_end bigint not null,
  provider text not null,
  reference text not null,
  -- The time of the newest provider event: an older one changes nothing.
  event_at bigint not null,
  created_at bigint not null,
  constraint billing_subscriptions_reference unique (provider, reference)
);
create unique index billing_subscriptions_current on billing_subscriptions (org_id) where status <> 'canceled';
create index billing_subscriptions_due on billing_subscriptions (current_period_end) where status <> 'canceled';

create table credit_requests (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  messages jsonb not null,
  created_at bigint not null,
  closed_at bigint
);
create index credit_requests_org on credit_requests (org_id);
create unique index credit_requests_open on credit_requests (org_id) where closed_at is null;

create table billing_events (
  provider text not null,
  event_id text not null,
  type text not null,
  at bigint not null,
  primary key (provider, event_id)
);

-- What a billing summary counts since the start of a period.
create index credit_transfers_spends on credit_transfers (org_id, created_at) include (run_id, amount) where kind = 'spend';
-- down
drop index credit_transfers_spends;
drop table billing_events, credit_requests, billing_subscriptions, billing_orders, billing_checkouts, billing_settings;
