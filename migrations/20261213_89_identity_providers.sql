-- Identity providers of organizations: the domains that an organization has proved, the providers of their addresses, and sessions that reach one organization.
-- up
create table identity_providers (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  issuer text not null,
  client_id text not null,
  sealed_secret text not null,
  -- The role of people whose first sign-in creates their membership; null admits only members and invited people.
  default_role text,
  -- Only a provider that has passed a test sign-in is offered.
  tested_at bigint,
  created_by_user_id text references people on delete set null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (org_id, id)
);
create index identity_providers_organization on identity_providers (org_id, created_at desc, id desc);

create table sign_in_domains (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  domain text collate "C" not null,
  -- The value of the TXT record.
  token text not null,
  provider_id text collate "C",
  -- Whether members with an address of the domain reach the organization only in sessions of its providers.
  required boolean not null default false check (not required or (provider_id is not null and verified_at is not null)),
  verified_at bigint,
  checked_at bigint,
  missing_since bigint,
  created_at bigint not null,
  unique (org_id, domain),
  foreign key (org_id, provider_id) references identity_providers (org_id, id)
);
create unique index sign_in_domains_verified on sign_in_domains (domain) where verified_at is not null;
create index sign_in_domains_checked on sign_in_domains (checked_at) where verified_at is not null;

-- A user of a provider, by the provider's own identifier, and the person that it signs in.
create table provider_identities (
  org_id text collate "C" not null references organizations on delete cascade,
  provider_id text collate "C" not null,
  subject text not null,
  user_id text collate "C" not null references people on delete cascade,
  email text not null,
  created_at bigint not null,
  last_used_at bigint not null,
  primary key (org_id, provider_id, subject),
  unique (org_id, provider_id, user_id),
  foreign key (org_id, provider_id) references identity_providers (org_id, id) on delete cascade
);
create index provider_identities_user on provider_identities (user_id);

-- Sign-ins that were started and wait for the answer of the provider.
create table provider_sign_ins (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  provider_id text collate "C" not null,
  -- The digest of a secret in the cookie of the browser that has started it.
  binding bytea not null,
  -- The person who tests the provider; null for a sign-in.
  tester_id text references people on delete cascade,
  return_to text not null,
  sealed_verifier text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  foreign key (org_id, provider_id) references identity_providers (org_id, id) on delete cascade
);
create index provider_sign_ins_expiry on provider_sign_ins (expires_at);

alter table sessions
  -- The organization whose provider has signed the person in, and until when that counts.
  add column sso_org_id text collate "C" references organizations on delete set null,
  add column sso_until bigint,
  -- Whether the session reaches nothing else, because only the provider vouches for the person.
  add column org_only boolean not null default false;

-- A session that reaches one organization is an event of no other.
create or replace function record_audit_change_of_person() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
  changed jsonb := coalesce(to_jsonb(new), to_jsonb(old));
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, before, after)
      select m.org_id, tg_table_name, origin, to_jsonb(old), to_jsonb(new) from memberships m
      where m.user_id = changed ->> tg_argv[0] and m.closed_at is null
        and (changed ->> 'org_only' is distinct from 'true' or m.org_id = changed ->> 'sso_org_id');
  end if;
  return null;
end $$;

create trigger identity_providers_audit_created after insert on identity_providers
  for each row execute function record_audit_change('org_id');
create trigger identity_providers_audit_updated after update of name, issuer, client_id, sealed_secret, default_role, tested_at on identity_providers
  for each row when ((old.name, old.issuer, old.client_id, old.sealed_secret, old.default_role, old.tested_at)
    is distinct from (new.name, new.issuer, new.client_id, new.sealed_secret, new.default_role, new.tested_at))
  execute function record_audit_change('org_id');
create trigger identity_providers_audit_deleted after delete on identity_providers
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
create trigger sign_in_domains_audit_created after insert on sign_in_domains
  for each row execute function record_audit_change('org_id');
create trigger sign_in_domains_audit_updated after update of provider_id, required, verified_at on sign_in_domains
  for each row when ((old.provider_id, old.required, old.verified_at) is distinct from (new.provider_id, new.required, new.verified_at))
  execute function record_audit_change('org_id');
create trigger sign_in_domains_audit_deleted after delete on sign_in_domains
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
create trigger provider_identities_audit_created after insert on provider_identities
  for each row execute function record_audit_change('org_id');
create trigger provider_identities_audit_deleted after delete on provider_identities
  for each row when (pg_trigger_depth() = 0) execute function record_audit_change('org_id');
-- down
create or replace function record_audit_change_of_person() returns trigger language plpgsql as $$
declare
  origin text := nullif(current_setting('audit.origin', true), '');
begin
  if origin is distinct from 'off' then
    insert into audit_changes (org_id, source, origin, before, after)
      select m.org_id, tg_table_name, origin, to_jsonb(old), to_jsonb(new) from memberships m
      where m.user_id = coalesce(to_jsonb(new), to_jsonb(old)) ->> tg_argv[0] and m.closed_at is null;
  end if;
  return null;
end $$;
-- The previous release would take them for sessions that reach everything.
delete from sessions where org_only;
alter table sessions drop column sso_org_id, drop column sso_until, drop column org_only;
drop table provider_sign_ins;
drop table provider_identities;
drop table sign_in_domains;
drop table identity_providers;
