-- Provisioning by an identity provider (SCIM 2.0): tokens, and the users and groups that it maintains (docs/directory.md).
-- up
create table directory_tokens (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  digest bytea not null,
  created_by_user_id text references people on delete set null,
  created_at bigint not null,
  expires_at bigint not null,
  last_used_at bigint,
  revoked_at bigint
);
create index directory_tokens_digest on directory_tokens (digest);
create index directory_tokens_organization on directory_tokens (org_id, created_at desc, id desc);

create table directory_users (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  user_name text not null,
  external_id text,
  -- In lower case; the account with this address is the person.
  email text not null,
  display_name text,
  formatted_name text,
  given_name text,
  family_name text,
  active boolean not null,
  -- Whether the person may join: from provisioning until they join, are removed or are deactivated.
  is_offered boolean not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (org_id, id)
);
create unique index directory_users_name on directory_users (org_id, lower(user_name));
create unique index directory_users_external on directory_users (org_id, external_id) where external_id is not null;
create unique index directory_users_email on directory_users (email, org_id);
create index directory_users_organization on directory_users (org_id, created_at desc, id desc);

create table directory_groups (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  display_name text not null,
  external_id text,
  -- The role of its members in the organization; null when the group gives none.
  role text check (role in ('admin', 'member', 'viewer')),
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (org_id, id)
);
create unique index directory_groups_name on directory_groups (org_id, lower(display_name));
create unique index directory_groups_external on directory_groups (org_id, external_id) where external_id is not null;
create index directory_groups_organization on directory_groups (org_id, created_at desc, id desc);

create table directory_group_members (
  org_id text collate "C" not null references organizations on delete cascade,
  group_id text collate "C" not null,
  directory_user_id text collate "C" not null,
  primary key (org_id, group_id, directory_user_id),
  foreign key (org_id, group_id) references directory_groups (org_id, id) on delete cascade,
  foreign key (org_id, directory_user_id) references directory_users (org_id, id) on delete cascade
);
create index directory_group_members_user on directory_group_members (org_id, directory_user_id);

create trigger directory_tokens_audit_created after insert on directory_tokens
  for each row execute function record_audit_change('org_id');
create trigger directory_tokens_audit_updated after update of revoked_at on directory_tokens
  for each row when (old.revoked_at is distinct from new.revoked_at) execute function record_audit_change('org_id');
create trigger directory_users_audit_created after insert on directory_users
  for each row execute function record_audit_change('org_id');
create trigger directory_users_audit_updated after update on directory_users
  for each row when (old.version <> new.version) execute function record_audit_change('org_id');
create trigger directory_users_audit_deleted after delete on directory_users
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
create trigger directory_groups_audit_created after insert on directory_groups
  for each row execute function record_audit_change('org_id');
create trigger directory_groups_audit_updated after update on directory_groups
  for each row when ((old.display_name, old.external_id, old.role) is distinct from (new.display_name, new.external_id, new.role))
  execute function record_audit_change('org_id');
create trigger directory_groups_audit_deleted after delete on directory_groups
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
create trigger directory_group_members_audit_created after insert on directory_group_members
  for each row execute function record_audit_change('org_id');
create trigger directory_group_members_audit_deleted after delete on directory_group_members
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
-- down
drop table directory_group_members;
drop table directory_groups;
drop table directory_users;
drop table directory_tokens;
