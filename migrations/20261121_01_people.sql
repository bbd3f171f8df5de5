-- People sign in to the console with a mailed code; there are no passwords to keep. Codes, links and sessions are digests.
-- up
create table people (
  id text collate "C" primary key,
  email text not null check (email = lower(email)),
  name text not null,
  created_at bigint not null,
  constraint people_email unique (email)
);

create table sign_in_codes (
  id text collate "C" primary key,
  email text not null,
  code_digest bytea not null,
  -- Counted before the code is looked at, so that tries at once can't be more than tries one by one.
  try_count integer not null default 0,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);
create index sign_in_codes_email on sign_in_codes (email, created_at desc);

create table sign_in_links (
  digest bytea primary key,
  -- The person is found or made when the link is used, as with a code.
  email text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);

create table sessions (
  id text collate "C" primary key,
  digest bytea not null constraint sessions_digest unique,
  person_id text not null references people on delete cascade,
  -- The organization the person last worked in: where a cookie without X-Org-Id belongs.
  org_id text,
  user_agent text,
  address text,
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  ended_at bigint
);
create index sessions_person on sessions (person_id, created_at desc);
-- down
drop table sessions;
drop table sign_in_links;
drop table sign_in_codes;
drop table people;
