-- People whom the operator has disabled, and what the limits of invites are counted by.
-- up
-- This and the next files alter tables that runs refer to. Whoever writes runs locks them first, and so does this.
lock table runs in access exclusive mode;
alter table people add column disabled_at bigint;
create index invites_recipient on invites (email, created_at desc);
create index invites_inviter on invites (invited_by_user_id, created_at desc);
-- down
drop index invites_inviter;
drop index invites_recipient;
alter table people drop column disabled_at;
