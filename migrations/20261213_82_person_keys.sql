-- Personal values in the audit log are sealed with a data key per organization and person. Erasing a person destroys the key
-- (docs/decisions/0073-personal-values-are-sealed-per-person.md).
-- up
create table person_keys (
  org_id text collate "C" not null references organizations on delete cascade,
  -- The id of a person, or a keyed digest of an email address without an account.
  subject text collate "C" not null,
  -- A random name, which sealed values contain.
  id text collate "C" not null,
  -- 32 bytes, sealed with the service key.
  sealed_key text not null,
  -- When a value was last sealed with it, rounded down by up to a day.
  used_at bigint not null,
  primary key (org_id, subject),
  unique (org_id, id)
);
create table person_erasures (
  org_id text collate "C" not null references organizations on delete cascade,
  subject text collate "C" not null,
  -- The last number of the audit log at the erasure.
  number bigint not null,
  created_at bigint not null,
  primary key (org_id, subject)
);
-- down
drop table person_erasures;
drop table person_keys;
