-- Repositories that their host renames or transfers: the host's own id of the repository stays the same.
-- up
alter table projects
  -- The server and its id of the repository, such as `github.com 1296269`; null until a runtime has opened the repository.
  add column scm_repository_key text;
create index projects_repository_key on projects (org_id, scm_repository_key) where scm_repository_key is not null;
-- down
alter table projects drop column scm_repository_key;
