-- Blocked hosts are counted over the runs of an organization, not over those of a template, which organizations share if it is built in.
-- up
create index concurrently if not exists connections_blocked on connections (org_id, host, updated_at) where verdict = 'blocked';
drop index concurrently if exists connections_template;
-- down
create index connections_template on connections (template_id, updated_at) where verdict = 'blocked';
drop index connections_blocked;
