-- The person who set the value of a secret or variable last; null for values that a program or the previous release set.
-- up
alter table secrets add column set_by_user_id text references people on delete set null;
create index secrets_set_by on secrets (set_by_user_id) where set_by_user_id is not null;
-- down
alter table secrets drop column set_by_user_id;
