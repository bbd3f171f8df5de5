-- Terminals of people in the sandboxes of running missions, with their latest input and output.
-- up
create table terminals (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  run_id text collate "C" not null references runs on delete cascade,
  -- The lease that the run had: a terminal ends with it.
  lease_id text collate "C" not null,
  author_user_id text collate "C" not null references people on delete cascade,
  -- Name of the person when the terminal was opened.
  author text not null,
  -- Size in characters.
  width integer not null,
  height integer not null,
  -- Whether the shell has a terminal device; null until the runtime has started it.
  has_device boolean,
  -- Why it has ended; null while it is open.
  reason text,
  created_at bigint not null,
  opened_at bigint,
  -- When the person was last connected.
  seen_at bigint not null,
  ended_at bigint
);
create index terminals_run on terminals (run_id) where ended_at is null;
create index terminals_created on terminals (created_at);
create index terminals_organization on terminals (org_id);
create index terminals_project on terminals (project_id);
create index terminals_person on terminals (author_user_id);

create table terminal_pieces (
  terminal_id text collate "C" not null references terminals on delete cascade,
  is_input boolean not null,
  -- Position among the pieces of this direction, from 0.
  seq integer not null,
  content text not null,
  primary key (terminal_id, is_input, seq)
);
-- down
drop table terminal_pieces;
drop table terminals;
