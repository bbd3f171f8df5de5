-- Artifacts are listed by their kind, of an organization and of a project.
-- up
create index concurrently if not exists artifacts_kind on artifacts (org_id, kind, created_at desc, id desc);
create index concurrently if not exists artifacts_project_kind on artifacts (project_id, kind, created_at desc, id desc);
-- down
drop index artifacts_project_kind;
drop index artifacts_kind;
