-- Threads on lines of pull requests at the source host, and reviews that are written there.
-- up
create table pull_request_threads (
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  pr_number integer not null,
  -- The host's id.
  key text collate "C" not null,
  seq integer not null,
  url text not null,
  path text not null,
  -- `old` or `new`: the version of the file that the lines are in.
  side text not null,
  -- The lines; null when the newest commit lacks them.
  start_line integer,
  line integer,
  is_resolved boolean not null,
  resolved_by text,
  -- The comment of a review here that began the thread; null for a thread that began at the host.
  comment_id text collate "C",
  comments jsonb not null,
  primary key (project_id, pr_number, key)
);
create index pull_request_threads_organization on pull_request_threads (org_id);
select background.create_queue('host review', '{"policy": "standard"}');
select background.create_queue('resolved comments', '{"policy": "standard"}');
-- down
select background.delete_queue('resolved comments');
select background.delete_queue('host review');
drop table pull_request_threads;
