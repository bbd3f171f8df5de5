-- Credentials that programs carry: personal access tokens of people, and service tokens of internal services.
-- up
create table tokens (
  id text collate "C" primary key,
  digest bytea not null constraint tokens_digest unique,
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  -- A token bound to a project ends with it.
  project_id text references projects on delete cascade,
  name text not null,
  scopes text[] not null,
  created_at bigint not null,
  expires_at bigint not null,
  last_used_at bigint,
  revoked_at bigint
);
create index tokens_person on tokens (user_id, org_id, created_at desc);
create index tokens_project on tokens (project_id);

create table service_tokens (
  id text collate "C" primary key,
  digest bytea not null constraint service_tokens_digest unique,
  org_id text references organizations on delete cascade,
  name text not null,
  scopes text[] not null,
  created_at bigint not null,
  last_used_at bigint,
  revoked_at bigint
);
-- down
drop table service_tokens;
drop table tokens;
