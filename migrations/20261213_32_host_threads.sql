-- A comment that is resolved here is resolved in its thread at the source host.
-- up
select background.create_queue('host thread', '{"policy": "standard"}');
-- down
select background.delete_queue('host thread');
