-- People follow missions of others, and hear of them as their person does.
-- up
create table run_followers (
  run_id text not null references runs on delete cascade,
  user_id text not null references people on delete cascade,
  org_id text not null references organizations on delete cascade,
  created_at bigint not null,
  primary key (run_id, user_id)
);
create index run_followers_person on run_followers (user_id, org_id);
create index run_followers_organization on run_followers (org_id);
-- down
drop table run_followers;
