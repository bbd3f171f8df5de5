-- What the first step of a keyed call returned, committed before the call goes on outside the database (run-now's run).
-- up
alter table idempotency_keys add column first_step text;
-- down
alter table idempotency_keys drop column first_step;
