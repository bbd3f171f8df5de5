-- What a POST with an Idempotency-Key answered, for 24 hours; the body is sealed, since it may hold a secret shown once.
-- up
create table idempotency_keys (
  id bytea primary key,
  fingerprint bytea not null,
  started_at bigint not null,
  expires_at bigint not null,
  status integer,
  sealed_body text
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);
-- down
drop table idempotency_keys;
