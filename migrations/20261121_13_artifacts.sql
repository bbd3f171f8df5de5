-- Artifacts are proof of work. Their contents lie in the storage; a row here says which of them there are.
-- up
-- Written before the upload begins: what an upload that broke off left behind is found here, and removed.
create table stored_contents (
  key text collate "C" primary key,
  created_at bigint not null,
  -- Null until all of it has arrived.
  size_bytes bigint check (size_bytes >= 0)
);

create table artifacts (
  id text collate "C" primary key,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  issue_id text,
  session_id text,
  sandbox_id text references sandboxes on delete set null,
  role text not null,
  kind text not null check (kind in ('screenshot', 'video', 'trace', 'log', 'report', 'file')),
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  caption text,
  criterion text,
  criterion_passed boolean,
  trace_viewer_url text check (trace_viewer_url ~ '^https?://'),
  content_key text not null references stored_contents,
  created_at bigint not null,
  expires_at bigint not null
);
create unique index artifacts_content on artifacts (content_key);
create index artifacts_newest on artifacts (org_id, created_at desc, id desc);
create index artifacts_project on artifacts (project_id, created_at desc, id desc);
create index artifacts_issue on artifacts (org_id, issue_id, created_at desc, id desc);
create index artifacts_sandbox on artifacts (sandbox_id, created_at desc, id desc);
create index artifacts_expiry on artifacts (expires_at);
-- down
drop table artifacts;
drop table stored_contents;
