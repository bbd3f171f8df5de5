-- The outcome of a run: whether it worked in a repository, and how much it changed there.
-- up
alter table runs
  add column opened_repository boolean not null default false,
  add column commits integer,
  add column changed_files integer,
  add column insertions integer,
  add column deletions integer;
-- down
alter table runs
  drop column opened_repository,
  drop column commits,
  drop column changed_files,
  drop column insertions,
  drop column deletions;
