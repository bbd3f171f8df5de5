-- Passkeys of console accounts (Web Authentication Level 3). Only public keys are stored.
-- up
create table passkeys (
  id text collate "C" primary key,
  person_id text not null references people on delete cascade,
  credential_id bytea not null constraint passkeys_credential unique check (length(credential_id) <= 1023),
  -- COSE_Key (RFC 9052).
  public_key bytea not null,
  -- The authenticator's signature counter; 0 for one that has none.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_person on passkeys (person_id, created_at desc);

-- A challenge carries its browser and its end itself; stored are the digests of used ones, until they expire.
create table used_passkey_challenges (
  digest bytea primary key,
  expires_at bigint not null
);
create index used_passkey_challenges_end on used_passkey_challenges (expires_at);
-- down
drop table used_passkey_challenges;
drop table passkeys;
