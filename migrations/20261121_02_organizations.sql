-- Organizations, who belongs to them in which role, and the invites that bring people in.
-- up
create table organizations (
  id text collate "C" primary key,
  name text not null check (char_length(name) between 1 and 120),
  slug text not null check (slug ~ '^[a-z0-9-]{1,64}$'),
  created_by_user_id text not null references people,
  name_pending boolean not null default false,
  created_at bigint not null,
  closed_at bigint,
  constraint organizations_slug unique (slug)
);

alter table sessions add constraint sessions_org foreign key (org_id) references organizations on delete set null;

create table memberships (
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at bigint not null,
  primary key (org_id, user_id)
);
create index memberships_user on memberships (user_id);

create table invites (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  invited_by_user_id text references people on delete set null,
  created_at bigint not null,
  expires_at bigint not null,
  accepted_at bigint,
  revoked_at bigint
);
-- One open invite per mail address and organization; an expired one is revoked before the next is written.
create unique index invites_open on invites (org_id, email) where accepted_at is null and revoked_at is null;
create index invites_email on invites (email) where accepted_at is null and revoked_at is null;
create index invites_org on invites (org_id, created_at desc, id desc);
-- down
drop table invites;
drop table memberships;
alter table sessions drop constraint sessions_org;
drop table organizations;
