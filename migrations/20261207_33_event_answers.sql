-- A mission that an event has started is answered where the event came from.
-- up
alter table runs
  -- The issue or pull request whose comment leads to the run; null where the issue of the tracker has that comment.
  add column origin_number int,
  -- The delivery that has started the run.
  add column origin_delivery_id text,
  -- Whether the answer says that the run waits for a person.
  add column origin_waits boolean not null default false;
alter table pull_request_remarks add column delivery_id text;
-- Why the source host shows no reaction or comment, by kind.
alter table inbound_deliveries add column answer_problems jsonb;
select background.create_queue('answer event', '{"policy": "standard"}');
-- down
select background.delete_queue('answer event');
alter table inbound_deliveries drop column answer_problems;
alter table pull_request_remarks drop column delivery_id;
alter table runs drop column origin_number, drop column origin_delivery_id, drop column origin_waits;
