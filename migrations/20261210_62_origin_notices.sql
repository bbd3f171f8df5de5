-- News of a mission at the place where it began, such as its thread in a chat: each person chooses the kinds.
-- up
alter table mission_notice_choices add column origin boolean not null default true;
-- down
alter table mission_notice_choices drop column origin;
