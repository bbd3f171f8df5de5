-- Access tokens that vendors issue for the credentials of connectors: the processes share them, because a new one may end the earlier one.
-- up
alter table integrations
  -- The sealed token, and the end of its use; null before the first.
  add column sealed_token text,
  add column token_until bigint;
-- down
alter table integrations drop column sealed_token, drop column token_until;
