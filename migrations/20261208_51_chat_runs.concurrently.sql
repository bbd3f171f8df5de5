-- The newest mission of a thread.
-- up
create index concurrently if not exists runs_chat_threads on runs (chat_thread_id, created_at) where chat_thread_id is not null;
-- down
drop index runs_chat_threads;
