-- Budgets of organizations, projects and people, and the sums that are compared with them: reading a month of costs call by call would
-- delay every reservation.
-- up
create table budgets (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  -- One of them at most; both null: of the organization.
  project_id text references projects on delete cascade,
  user_id text references people on delete cascade,
  subject text not null generated always as (case when project_id is not null then 'project'
    when user_id is not null then 'person' else 'organization' end) stored,
  period text not null check (period in ('day', 'month')),
  amount_usd numeric(12, 4) not null check (amount_usd > 0),
  created_at bigint not null,
  updated_at bigint not null,
  check (project_id is null or user_id is null)
);
create unique index budgets_subject on budgets (org_id, coalesce(project_id, user_id, ''), period);
create index budgets_org on budgets (org_id, created_at desc, id desc);
create index budgets_project on budgets (project_id, created_at desc, id desc);
create index budgets_user on budgets (user_id);

create table mission_spending (
  org_id text not null references organizations on delete cascade,
  -- Start of the UTC day, epoch milliseconds.
  day bigint not null,
  project_id text not null,
  -- The person who started the missions; empty for none. What was spent stays spent, also when project or person is gone.
  user_id text not null,
  usd numeric(14, 6) not null,
  primary key (org_id, day, project_id, user_id)
);
create function add_mission_spending() returns trigger language plpgsql as $$
begin
  insert into mission_spending (org_id, day, project_id, user_id, usd)
    values (new.org_id, new.at - new.at % 86400000, new.project_id,
      coalesce((select r.billing_actor_user_id from runs r where r.id = new.run_id), ''), new.usd)
    on conflict (org_id, day, project_id, user_id) do update set usd = mission_spending.usd + excluded.usd;
  return null;
end $$;
create trigger mission_costs_spending after insert on mission_costs
  for each row when (new.usd > 0) execute function add_mission_spending();
-- The newest 31 days of each organization, by the index on organization and time: at least the present month.
insert into mission_spending (org_id, day, project_id, user_id, usd)
  select o.id, c.at - c.at % 86400000, c.project_id, coalesce(r.billing_actor_user_id, ''), sum(c.usd)
  from organizations o
    cross join lateral (select max(m.at) as at from mission_costs m where m.org_id = o.id) newest
    join mission_costs c on c.org_id = o.id and c.at >= newest.at - newest.at % 86400000 - 31::bigint * 86400000 and c.usd > 0
    left join runs r on r.id = c.run_id
  group by 1, 2, 3, 4;
-- down
drop trigger mission_costs_spending on mission_costs;
drop function add_mission_spending();
drop table mission_spending, budgets;
