-- Lists by a status that few of very many have. What is open has indexes of its own: an entry here is made once, at the end, and
-- no heartbeat has to carry it along.
-- up
create index runs_ended on runs (org_id, status, created_at desc, id desc) where status not in ('dispatching', 'running');
create index runs_project_ended on runs (project_id, status, created_at desc, id desc)
  where status not in ('dispatching', 'running');
create index sandboxes_ended on sandboxes (org_id, status, created_at desc, id desc) where status <> 'running';
create index sandboxes_project_ended on sandboxes (project_id, status, created_at desc, id desc) where status <> 'running';
-- down
drop index sandboxes_project_ended, sandboxes_ended, runs_project_ended, runs_ended;
