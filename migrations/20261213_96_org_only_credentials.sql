-- Credentials that a session of one organization has created reach nothing of the person beyond it, as the session itself.
-- up
alter table tokens add column org_only boolean not null default false;
alter table authorization_codes add column org_only boolean not null default false;
alter table sign_ins add column org_only boolean not null default false;
alter table agent_registrations add column org_only boolean not null default false;
-- down
alter table tokens drop column org_only;
alter table authorization_codes drop column org_only;
alter table sign_ins drop column org_only;
alter table agent_registrations drop column org_only;
