-- An Idempotency-Key moves with its organization, so that a call that is repeated in another cell is not executed twice.
-- up
alter table idempotency_keys add column org_id text collate "C";
-- down
alter table idempotency_keys drop column org_id;
