-- People hear of their missions: what each was told, once, and the channels that each has chosen.
-- up
create table mission_notices (
  id text collate "C" primary key,
  run_id text not null references runs on delete cascade,
  -- The end of the run, or one approval, question or lack of money: nobody is told twice of it.
  cause text not null,
  org_id text not null references organizations on delete cascade,
  user_id text not null references people on delete cascade,
  -- A word of the program, which grows without a migration.
  kind text not null,
  title text not null,
  body text not null,
  in_browser boolean not null,
  created_at bigint not null,
  unique (run_id, cause)
);
create index mission_notices_person on mission_notices (user_id, created_at);
create index mission_notices_organization on mission_notices (org_id);
create index mission_notices_age on mission_notices (created_at);

create table mission_notice_choices (
  user_id text not null references people on delete cascade,
  kind text not null,
  mail boolean not null,
  browser boolean not null,
  updated_at bigint not null,
  primary key (user_id, kind)
);
-- Missions that ended before this release are no news.
insert into mission_notices (id, run_id, cause, org_id, user_id, kind, title, body, in_browser, created_at)
  select 'mno_' || substr(id, 5), id, 'end', org_id, billing_actor_user_id, status, '', '', false, finished_at
  from runs where finished_at > extract(epoch from now()) * 1000 - 3 * 3600 * 1000 and billing_actor_user_id is not null;
-- down
drop table mission_notice_choices, mission_notices;
