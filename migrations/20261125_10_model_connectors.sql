-- Connected servers of language models: where they are, and what the vendor last said of the key.
-- up
alter table integrations
  -- Null: the vendor's own address.
  add column base_url text,
  add column has_credentials boolean not null generated always as (sealed_credentials is not null) stored,
  add column checked_at bigint,
  -- Why the last check failed; null: it did not.
  add column check_failure text;
-- down
alter table integrations drop column check_failure, drop column checked_at, drop column has_credentials, drop column base_url;
