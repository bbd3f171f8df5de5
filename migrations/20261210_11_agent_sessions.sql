-- Sessions of agents at trackers: their threads belong to the connector of a tracker, which has no chat.
-- up
alter table chat_threads drop constraint chat_threads_integration_id_fkey;
alter table chat_threads
  add constraint chat_threads_integration foreign key (integration_id) references integrations on delete cascade not valid,
  -- The newest delivery about a session, which shows why an activity could not be sent.
  add column delivery_id text;
select background.create_queue('session event', '{"policy": "standard"}');
-- down
select background.delete_queue('session event');
delete from chat_threads where integration_id not in (select integration_id from chat_connections);
alter table chat_threads drop constraint chat_threads_integration, drop column delivery_id;
alter table chat_threads
  add constraint chat_threads_integration_id_fkey foreign key (integration_id) references chat_connections on delete cascade;
