-- Agent-to-agent tasks are runs. What is kept beside them: the messages that started them, and where their changes are sent.
-- up
create table a2a_messages (
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  -- The client's: one message of a person starts one mission, however often it is sent.
  message_id text not null,
  fingerprint bytea not null,
  context_id text not null,
  -- Null within the transaction that creates the run only.
  run_id text collate "C" references runs on delete cascade,
  text text not null,
  created_at bigint not null,
  primary key (org_id, user_id, message_id)
);
create unique index a2a_messages_run on a2a_messages (run_id);
create index a2a_messages_context on a2a_messages (org_id, context_id, created_at desc, run_id desc);
create index a2a_messages_user on a2a_messages (user_id);

create table a2a_push_configs (
  run_id text collate "C" not null references runs on delete cascade,
  id text not null,
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  url text not null,
  -- The token and the credentials that the receiver wants.
  sealed_secrets text,
  -- The last status of the run that a notification was written for.
  told_status text not null,
  created_at bigint not null,
  primary key (run_id, id)
);
create index a2a_push_configs_org on a2a_push_configs (org_id);
create index a2a_push_configs_user on a2a_push_configs (user_id);
create index a2a_push_configs_open on a2a_push_configs (run_id) where told_status in ('dispatching', 'running');

select background.create_queue('a2a push', '{"policy": "standard"}');
-- down
select background.delete_queue('a2a push');
drop table a2a_push_configs;
drop table a2a_messages;
