-- Who has had trial credits: a person has them once, however many organizations they found.
-- up
create table credit_trials (
  user_id text primary key references people on delete cascade,
  at bigint not null
);
insert into credit_trials (user_id, at)
  select o.created_by_user_id, min(l.created_at) from credit_lots l join organizations o on o.id = l.org_id
  where l.kind = 'trial' group by o.created_by_user_id;
-- down
drop table credit_trials;
