-- Runs of one issue, and the issues of one assignee.
-- up
create index concurrently if not exists runs_issue on runs (issue_id, created_at desc) where issue_id is not null;
create index concurrently if not exists issues_assignee on issues (assignee_user_id) where assignee_user_id is not null;
create index concurrently if not exists issues_author on issues (created_by_user_id) where created_by_user_id is not null;
alter table issues validate constraint issues_assignee_user_id_fkey;
alter table issues validate constraint issues_created_by_user_id_fkey;
-- down
drop index issues_author;
drop index issues_assignee;
drop index runs_issue;
