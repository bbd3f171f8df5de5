-- Commits of missions with their signed statements, and the calls that the statements count (docs/attestations.md).
-- up
create unique index projects_in_organization on projects (org_id, id);

-- Runs are deleted with their project alone.
create table run_calls (
  org_id text collate "C" not null references organizations on delete cascade,
  run_id text collate "C" not null,
  -- Counted from 1; the order of the leaves in the Merkle tree.
  number integer not null,
  project_id text collate "C" not null,
  -- Identifies a report, which may be repeated.
  key text not null,
  kind text not null check (kind in ('model', 'tool', 'network')),
  -- Canonical JSON, whose bytes are the leaf.
  entry text not null,
  primary key (org_id, run_id, number),
  unique (org_id, run_id, key),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index run_calls_project on run_calls (org_id, project_id);

create table attestations (
  org_id text collate "C" not null references organizations on delete cascade,
  sha text not null,
  tree_sha text not null,
  project_id text collate "C" not null,
  run_id text collate "C" not null,
  -- The step whose runtime has reported the commit, and the credential of that runtime.
  step_id text not null,
  reporter_id text not null,
  -- Order of the commits of the run.
  position integer not null,
  created_at bigint not null,
  -- The DSSE envelope; null until the statement is signed.
  envelope jsonb,
  key_id text references audit_keys,
  signed_at bigint,
  primary key (org_id, sha),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index attestations_run on attestations (run_id, position);
create index attestations_project on attestations (org_id, project_id);
select background.create_queue('attest', '{"policy": "standard"}');
-- down
select background.delete_queue('attest');
drop table attestations;
drop table run_calls;
drop index projects_in_organization;
