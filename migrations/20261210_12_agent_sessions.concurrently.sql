-- The threads that were there before are checked while the service works.
-- up
alter table chat_threads validate constraint chat_threads_integration;
-- down
select 1;
