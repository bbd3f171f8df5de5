-- Agents that register themselves, the claims by which a person makes one theirs, and what of a provider's words must not count
-- twice. A claimed registration holds what the person lent; for a provider's user it also is the link to that person.
-- up
create table agent_registrations (
  id text collate "C" primary key,
  kind text not null check (kind in ('anonymous', 'service_auth', 'identity_assertion')),
  -- The agent's own words, without the characters that turn or hide text.
  agent_name text,
  -- Whose account may claim it: the login hint, or what the provider vouches for. An anonymous agent names it at each attempt.
  email text check (email = lower(email)),
  issuer text,
  subject text,
  created_at bigint not null,
  claim_token_digest bytea not null constraint agent_registrations_claim_token unique,
  claim_expires_at bigint not null,
  -- Seconds.
  poll_interval integer not null,
  last_polled_at bigint,
  -- Rises when the agent is claimed and when it is revoked: an identity assertion of an earlier generation is worth nothing.
  generation integer not null default 1,
  claimed_at bigint,
  -- When the agent fetched what the person lent: its claim token is good for that once.
  collected_at bigint,
  user_id text references people on delete cascade,
  org_id text references organizations on delete cascade,
  -- Access that is bound to a project ends with it.
  project_id text references projects on delete cascade,
  scopes text[],
  grant_expires_at bigint,
  last_used_at bigint,
  revoked_at bigint,
  constraint agent_registrations_provider_user check (
    (kind = 'identity_assertion') = (num_nonnulls(issuer, subject) = 2) and num_nonnulls(issuer, subject) <> 1
  ),
  constraint agent_registrations_grant check (
    num_nonnulls(claimed_at, user_id, org_id, scopes, grant_expires_at) in (0, 5)
    and (claimed_at is not null or num_nonnulls(collected_at, project_id) = 0)
  )
);
-- One registration per user of a provider, until it is revoked; the next one starts afresh.
create unique index agent_registrations_link on agent_registrations (issuer, subject) where revoked_at is null;
create index agent_registrations_person on agent_registrations (user_id, org_id, claimed_at desc);
create index agent_registrations_project on agent_registrations (project_id);
create index agent_registrations_unclaimed on agent_registrations (claim_expires_at) where claimed_at is null;

create table claim_attempts (
  id text collate "C" primary key,
  registration_id text not null references agent_registrations on delete cascade,
  -- Of the one-attempt token in the verification address.
  token_digest bytea not null constraint claim_attempts_token unique,
  code_digest bytea not null,
  -- The only account that may complete it.
  email text not null check (email = lower(email)),
  -- Counted before the code is looked at, so that tries at once can't be more than tries one by one.
  wrong_count integer not null default 0,
  created_at bigint not null,
  expires_at bigint not null,
  superseded_at bigint,
  denied_at bigint,
  completed_at bigint
);
-- A new attempt ends the one before.
create unique index claim_attempts_current on claim_attempts (registration_id) where superseded_at is null;
create index claim_attempts_registration on claim_attempts (registration_id, created_at desc);

-- The ids of what providers sent: identity assertions, which count once, and security events, which act once.
create table used_jtis (
  kind text not null check (kind in ('assertion', 'event')),
  issuer text not null,
  jti text not null,
  -- From then on the message is too old anyway.
  expires_at bigint not null,
  primary key (kind, issuer, jti)
);
create index used_jtis_expiry on used_jtis (expires_at);

-- How many agents one address has registered in its present hour, counted over all processes.
create table registration_counts (
  address text primary key,
  count integer not null,
  window_ends_at bigint not null
);
create index registration_counts_end on registration_counts (window_ends_at);

alter table access_tokens add constraint access_tokens_registration
  foreign key (registration_id) references agent_registrations on delete cascade;
-- down
alter table access_tokens drop constraint access_tokens_registration;
drop table registration_counts;
drop table used_jtis;
drop table claim_attempts;
drop table agent_registrations;
