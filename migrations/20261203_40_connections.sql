-- Hosts that runs connected to or asked for, counted by verdict, and how their environments were prepared, as their runtimes report.
-- up
create table connections (
  run_id text collate "C" not null references runs on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  -- Of the step that was worked on; `standard` or an own one, which may be deleted.
  template_id text not null,
  host text not null,
  port integer not null,
  phase text not null check (phase in ('setup', 'agent')),
  verdict text not null check (verdict in ('allowed', 'blocked', 'not_public', 'unknown_host', 'failed')),
  count bigint not null,
  sent_bytes bigint not null,
  received_bytes bigint not null,
  -- The last report that was added up: repeated, it changes nothing.
  report_id text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (run_id, host, port, phase, verdict)
);
create index connections_org on connections (org_id);
create index connections_project on connections (project_id);
create index connections_template on connections (template_id, updated_at) where verdict = 'blocked';

create table preparations (
  id text collate "C" primary key,
  run_id text collate "C" not null references runs on delete cascade,
  org_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  template_id text not null,
  -- The runtime's own: template, base commit and lock files.
  key text not null,
  commit text,
  status text not null check (status in ('preparing', 'ready', 'failed')),
  last_lines text,
  seconds double precision,
  bytes bigint,
  -- The lease under which it was reported last.
  lease_id text not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index preparations_run on preparations (run_id);
create index preparations_org on preparations (org_id, created_at desc, id desc);
create index preparations_project on preparations (project_id, created_at desc, id desc);
create index preparations_template on preparations (template_id, created_at desc, id desc);
-- down
drop table preparations;
drop table connections;
