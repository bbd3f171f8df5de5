-- Mails about notices: when an organization was last looked at, which notice was mailed to whom, and what a person does not want.
-- up
create table notice_checks (
  org_id text primary key references organizations on delete cascade,
  checked_at bigint not null
);
create index notice_checks_due on notice_checks (checked_at);
create function check_notices_of_organization() returns trigger language plpgsql as $$
begin
  insert into notice_checks (org_id, checked_at) values (new.id, new.created_at);
  return null;
end $$;
create trigger organizations_notice_checks after insert on organizations
  for each row execute function check_notices_of_organization();
insert into notice_checks (org_id, checked_at) select id, created_at from organizations;

create table notice_mails (
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  notice_id text not null,
  mailed_at bigint not null,
  primary key (org_id, user_id, notice_id)
);
create index notice_mails_user on notice_mails (user_id);
create index notice_mails_age on notice_mails (mailed_at);

create table notice_mail_settings (
  user_id text not null references people on delete cascade,
  -- A word of the program, which grows without a migration.
  kind text not null,
  is_enabled boolean not null,
  updated_at bigint not null,
  primary key (user_id, kind)
);
-- down
drop table notice_mail_settings, notice_mails;
drop trigger organizations_notice_checks on organizations;
drop function check_notices_of_organization();
drop table notice_checks;
