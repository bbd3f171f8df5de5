-- Notices are computed from what is; only who dismissed which is stored, and since when a vendor rejects the credentials of a
-- connector.
-- up
create table notice_dismissals (
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  -- Derived from the condition and its subject: a new cause has another one.
  notice_id text not null,
  dismissed_at bigint not null,
  primary key (org_id, user_id, notice_id)
);
create index notice_dismissals_user on notice_dismissals (user_id);
create index notice_dismissals_age on notice_dismissals (dismissed_at);
alter table integrations add column broken_since bigint;
-- down
alter table integrations drop column broken_since;
drop table notice_dismissals;
