-- A renamed organization is still found by its former slugs, so that links that hold one of them lead on.
-- up
alter table organizations add column former_slugs text[] not null default '{}';
-- down
alter table organizations drop column former_slugs;
