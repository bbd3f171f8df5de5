-- Connections name the programs that asked for them, and tell those apart whose program does not trust the mission's authority.
-- up
alter table connections add column programs text[] not null default '{}';
alter table connections drop constraint connections_verdict_check;
alter table connections add constraint connections_verdict_check
  check (verdict in ('allowed', 'blocked', 'not_public', 'unknown_host', 'failed', 'untrusted')) not valid;
-- down
update connections set verdict = 'failed' where verdict = 'untrusted' and not exists (
  select from connections c where (c.run_id, c.host, c.port, c.phase) = (connections.run_id, connections.host, connections.port, connections.phase)
    and c.verdict = 'failed');
delete from connections where verdict = 'untrusted';
alter table connections drop constraint connections_verdict_check;
alter table connections add constraint connections_verdict_check
  check (verdict in ('allowed', 'blocked', 'not_public', 'unknown_host', 'failed'));
alter table connections drop column programs;
