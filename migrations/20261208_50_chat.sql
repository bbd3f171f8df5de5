-- Chat: workspaces whose people start and steer missions, channels of projects, threads of missions.
-- up
alter table integrations
  drop constraint if exists integrations_vendor_check, drop constraint if exists integrations_vendor_kind_check;
alter table integrations
  add constraint integrations_vendor_kind_check check (vendor_kind in ('tracker', 'scm', 'llm', 'chat')) not valid;
alter table inbound_hooks
  drop constraint if exists inbound_hooks_vendor_check, drop constraint if exists inbound_hooks_signature_check,
  -- The connector that the hook belongs to: it goes with it.
  add column integration_id text collate "C" references integrations on delete cascade;
create unique index inbound_hooks_integration on inbound_hooks (integration_id);

create table chat_connections (
  integration_id text collate "C" primary key references integrations on delete cascade,
  org_id text not null references organizations on delete cascade,
  -- The vendor's ids of the workspace and of the account in it.
  workspace_id text not null,
  bot_user_id text not null,
  -- No call before this time: the vendor limits the rate.
  paused_until bigint,
  -- Why the last message could not be written; null once one was.
  problem text,
  created_at bigint not null,
  updated_at bigint not null,
  unique (org_id, workspace_id)
);

create table chat_channels (
  integration_id text collate "C" not null references chat_connections on delete cascade,
  channel_id text not null,
  org_id text not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  workspace_id text not null,
  name text not null,
  created_at bigint not null,
  primary key (integration_id, channel_id),
  -- A channel belongs to one organization.
  unique (workspace_id, channel_id)
);
create index chat_channels_organization on chat_channels (org_id);
create index chat_channels_project on chat_channels (project_id);

create table chat_threads (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  integration_id text collate "C" not null references chat_connections on delete cascade,
  channel_id text not null,
  -- The first message of the thread; null until a command's is posted.
  thread_id text,
  -- The state of the newest run that was last reported.
  state text,
  -- Whether a change of the newest run is reported.
  follows boolean not null,
  -- A process reports until this time; when the report is tried again.
  claimed_until bigint,
  retry_at bigint,
  created_at bigint not null,
  unique (integration_id, channel_id, thread_id)
);
create index chat_threads_organization on chat_threads (org_id);
create index chat_threads_followed on chat_threads (id) where follows;

-- What was posted in a thread, each thing once.
create table chat_posts (
  thread_id text collate "C" not null references chat_threads on delete cascade,
  cause text not null,
  -- The vendor's id of the message; null until it is posted.
  message_id text,
  -- The message as it is shown.
  message jsonb not null,
  created_at bigint not null,
  primary key (thread_id, cause)
);
-- The thread that a mission is reported in.
alter table runs add column chat_thread_id text;
select background.create_queue('chat event', '{"policy": "standard"}');
select background.create_queue('chat reply', '{"policy": "standard"}');
select background.create_queue('chat thread', '{"policy": "standard"}');
-- down
select background.delete_queue('chat thread');
select background.delete_queue('chat reply');
select background.delete_queue('chat event');
alter table runs drop column chat_thread_id;
drop table chat_posts, chat_threads, chat_channels, chat_connections;
delete from inbound_hooks where vendor = 'slack';
drop index inbound_hooks_integration;
alter table inbound_hooks drop column integration_id;
alter table inbound_hooks
  add constraint inbound_hooks_vendor_check check (vendor in ('github', 'webhook')) not valid,
  add constraint inbound_hooks_signature_check check (signature in ('github', 'standard', 'header')) not valid;
delete from integrations where vendor_kind = 'chat';
alter table integrations drop constraint integrations_vendor_kind_check;
alter table integrations
  add constraint integrations_vendor_check check (vendor in ('linear', 'github', 'builtin', 'anthropic', 'openai')) not valid,
  add constraint integrations_vendor_kind_check check (vendor_kind in ('tracker', 'scm', 'llm')) not valid;
