-- The verdicts of connections are checked for old rows too.
-- up
alter table connections validate constraint connections_verdict_check;
-- down
