-- Calls that look for a comment or check and then write it: one process at a time.
-- up
create table vendor_turns (
  key text collate "C" primary key,
  holder text not null,
  expires_at bigint not null
);
-- down
drop table vendor_turns;
