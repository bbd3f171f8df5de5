-- What a run waits for: which harnesses connected runtimes offer, since when it waits, and since when its runtime is silent. And
-- whose words a span of a prompt holds.
-- up
create table runtime_harnesses (
  -- The service token that the runtime carries, and the organization that this is for; null: for every one.
  credential_id text not null references service_tokens on delete cascade,
  runtime text not null,
  harness text not null,
  org_id text references organizations on delete cascade,
  -- To the half minute.
  seen_at bigint not null,
  primary key (credential_id, runtime, harness)
);
create index runtime_harnesses_org on runtime_harnesses (org_id);

alter table runs
  -- Null: since it was created.
  add column waiting_since bigint,
  -- The last heartbeat before its lease ran out; null while its runtime is heard of, and when another one took it.
  add column silent_since bigint;

-- Null: repo-contributed, or another part than the prompt.
alter table sandbox_log_parts add column prompt_scope text;
-- down
alter table sandbox_log_parts drop column prompt_scope;
alter table runs drop column silent_since, drop column waiting_since;
drop table runtime_harnesses;
