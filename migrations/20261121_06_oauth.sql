-- The OAuth authorization server: signing keys, clients, codes, sign-ins and the access tokens of programs. Secrets are digests.
-- up
create table signing_keys (
  -- RFC 7638 thumbprint of the public part.
  kid text primary key,
  public_jwk jsonb not null,
  -- Sealed with the service key.
  sealed_private_jwk text not null,
  created_at bigint not null,
  retired_at bigint,
  -- A retired key stays published until nothing that it signed can be good any more.
  expires_at bigint
);
-- One key signs at a time: of several processes that make or rotate it at once, one wins.
create unique index signing_keys_active on signing_keys ((true)) where retired_at is null;

create table oauth_clients (
  id text collate "C" primary key,
  name text,
  redirect_uris text[] not null,
  grant_types text[] not null,
  client_uri text,
  logo_uri text,
  application_type text,
  created_at bigint not null
);
create index oauth_clients_age on oauth_clients (created_at);

-- The last good metadata document of each client that is named by its URL; never an error.
create table client_documents (
  url text primary key,
  name text not null,
  redirect_uris text[] not null,
  fetched_at bigint not null,
  fresh_until bigint not null
);

create table sign_ins (
  id text collate "C" primary key,
  client_id text not null,
  -- As it was called when the person agreed.
  client_name text,
  user_id text not null references people on delete cascade,
  org_id text not null references organizations on delete cascade,
  -- A sign-in bound to a project ends with it.
  project_id text references projects on delete cascade,
  resource text not null check (resource in ('api', 'mcp', 'a2a')),
  scopes text[] not null,
  created_at bigint not null,
  -- The end that the person chose; refreshing does not move it.
  expires_at bigint not null,
  revoked_at bigint
);
create index sign_ins_person on sign_ins (user_id, org_id, created_at desc);
create index sign_ins_client on sign_ins (client_id);
create index sign_ins_project on sign_ins (project_id);

create table authorization_codes (
  digest bytea primary key,
  client_id text not null,
  client_name text,
  redirect_uri text not null,
  code_challenge text not null,
  user_id text not null references people on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text references projects on delete cascade,
  resource text not null check (resource in ('api', 'mcp', 'a2a')),
  scopes text[] not null,
  access_expires_at bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  -- What came of it: ends when the code is presented again.
  sign_in_id text references sign_ins on delete cascade
);
create index authorization_codes_expiry on authorization_codes (expires_at);
create index authorization_codes_sign_in on authorization_codes (sign_in_id);

create table refresh_tokens (
  digest bytea primary key,
  sign_in_id text not null references sign_ins on delete cascade,
  created_at bigint not null,
  -- Used ones stay as long as the sign-in: presenting one again ends it.
  used_at bigint
);
create index refresh_tokens_sign_in on refresh_tokens (sign_in_id);

create table access_tokens (
  id text collate "C" primary key,
  digest bytea not null constraint access_tokens_digest unique,
  kind text not null check (kind in ('agent', 'oauth')),
  resource text not null check (resource in ('api', 'mcp', 'a2a')),
  registration_id text,
  sign_in_id text references sign_ins on delete cascade,
  scopes text[] not null,
  created_at bigint not null,
  expires_at bigint not null,
  last_used_at bigint,
  revoked_at bigint,
  constraint access_tokens_owner check (
    (kind = 'agent') = (registration_id is not null) and (kind = 'oauth') = (sign_in_id is not null)
  )
);
create index access_tokens_registration on access_tokens (registration_id);
create index access_tokens_sign_in on access_tokens (sign_in_id);
create index access_tokens_expiry on access_tokens (expires_at);
-- down
drop table access_tokens;
drop table refresh_tokens;
drop table authorization_codes;
drop table sign_ins;
drop table client_documents;
drop table oauth_clients;
drop table signing_keys;
