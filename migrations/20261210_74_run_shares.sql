-- Links that show a mission to people outside: read-only, expiring, revoked with one press.
-- up
create table run_shares (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  run_id text collate "C" not null references runs on delete cascade,
  -- SHA-256 of the token in the address, which is shown once.
  token_hash bytea not null unique,
  created_by text not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  revoked_by text,
  uses integer not null default 0,
  last_used_at bigint
);
create index run_shares_run on run_shares (run_id, created_at);
create index run_shares_organization on run_shares (org_id, created_at desc, id desc);
create index run_shares_project on run_shares (project_id);
create index run_shares_expiry on run_shares (expires_at);
-- down
drop table run_shares;
