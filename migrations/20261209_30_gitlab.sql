-- GitLab as a tracker, a source host and a sender of events. The sets of vendors are those of the service: a list here would hold back
-- the next one.
-- up
alter table integrations drop constraint if exists integrations_vendor_check;
alter table projects drop constraint if exists projects_tracker_check;
alter table inbound_hooks drop constraint if exists inbound_hooks_vendor_check, drop constraint if exists inbound_hooks_signature_check;
-- down
update projects set tracker = 'builtin', tracker_connector_id = null where tracker not in ('builtin', 'linear', 'github');
update projects set scm_connector_id = null
  where scm_connector_id in (select id from integrations where vendor not in ('linear', 'github', 'builtin', 'anthropic', 'openai'));
delete from integrations where vendor not in ('linear', 'github', 'builtin', 'anthropic', 'openai');
delete from inbound_hooks where vendor not in ('github', 'webhook') or signature not in ('github', 'standard', 'header');
alter table integrations add check (vendor in ('linear', 'github', 'builtin', 'anthropic', 'openai'));
alter table projects add check (tracker in ('builtin', 'linear', 'github'));
alter table inbound_hooks add check (vendor in ('github', 'webhook')), add check (signature in ('github', 'standard', 'header'));
