-- Accounts of members at source hosts and chats: an event by such an account is an event by the member.
-- up
create table host_accounts (
  org_id text not null,
  user_id text not null,
  vendor text not null,
  -- The server of the vendor, such as api.github.com, or the workspace of a chat.
  host text not null,
  -- The id of the account, which outlasts a change of its login: another person may take a login that became free.
  account text collate "C" not null,
  login text not null,
  created_at bigint not null,
  primary key (org_id, vendor, host, account),
  foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
create unique index host_accounts_person on host_accounts (org_id, user_id, vendor, host);
-- down
drop table host_accounts;
