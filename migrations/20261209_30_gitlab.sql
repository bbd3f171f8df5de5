-- GitLab as a tracker, a source host and a sender of events. The sets of vendors are those of the service: a list here would hold back
-- the next one.
-- up
alter table integrations drop constraint if exists integrations_vendor_check;
alter table projects drop constraint if exists projects_tracker_check;
alter table inbound_hooks drop constraint if exists inbound_hooks_vendor_check, drop constraint if exists inbound_hooks_signature_check;
-- down
update projects set tracker = 'builtin', tracker_connector_id = null where tracker = 'gitlab';
update projects set scm_connector_id = null where scm_connector_id in (select id from integrations where vendor = 'gitlab');
delete from integrations where vendor = 'gitlab';
delete from inbound_hooks where vendor = 'gitlab';
alter table projects add constraint projects_tracker_check check (tracker in ('builtin', 'linear', 'github')) not valid;
