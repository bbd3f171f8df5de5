-- Issues of the built-in tracker are written by people too: they have an assignee, an author and comments, and events for rules.
-- up
alter table issues
  -- The agent that works on the issue, also a built-in one; or the person who does.
  add column agent_id text,
  add column assignee_user_id text,
  add column created_by_user_id text,
  -- The rows are checked by the next file.
  add constraint issues_assignee_user_id_fkey foreign key (assignee_user_id) references people on delete set null not valid,
  add constraint issues_created_by_user_id_fkey foreign key (created_by_user_id) references people on delete set null not valid;
create table issue_comments (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  issue_id text collate "C" not null references issues on delete cascade,
  author_user_id text references people on delete set null,
  -- The author's name when the comment was written.
  author text not null,
  -- The first run of the mission that keeps this comment up to date; null for a person's.
  run_id text collate "C" references runs on delete set null,
  body text not null,
  -- What the comment has led to, in a sentence.
  effect text,
  created_at bigint not null,
  updated_at bigint not null,
  constraint issue_comments_run unique (issue_id, run_id)
);
create index issue_comments_newest on issue_comments (issue_id, created_at desc, id desc);
create index issue_comments_organization on issue_comments (org_id, created_at desc, id desc);
create index issue_comments_project on issue_comments (project_id, created_at desc, id desc);
create index issue_comments_author on issue_comments (author_user_id) where author_user_id is not null;
create index issue_comments_of_run on issue_comments (run_id) where run_id is not null;
-- The service checks both: vendors are added without a migration.
alter table inbound_hooks
  drop constraint if exists inbound_hooks_vendor_check, drop constraint if exists inbound_hooks_signature_check;
-- The events of the built-in tracker have one hook.
create unique index inbound_hooks_builtin on inbound_hooks (org_id) where vendor = 'builtin';
-- down
delete from inbound_hooks where vendor in ('linear', 'builtin');
drop index inbound_hooks_builtin;
drop table issue_comments;
alter table issues drop column agent_id, drop column assignee_user_id, drop column created_by_user_id;
