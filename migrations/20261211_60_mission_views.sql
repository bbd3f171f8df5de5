-- Saved views of missions: filters, grouping and layout that a person has named.
-- up
create table mission_views (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  name text not null,
  layout text not null check (layout in ('list', 'board')),
  group_by text,
  filters jsonb not null,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index mission_views_name on mission_views (org_id, user_id, lower(name));
create index mission_views_person on mission_views (user_id);
-- down
drop table mission_views;
