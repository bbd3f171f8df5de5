-- Each audited write maintains one index of its recorded change in place of two.
-- up
drop index audit_changes_org;
alter table audit_changes drop constraint audit_changes_pkey;
alter table audit_changes add primary key (org_id, id);
-- down
alter table audit_changes drop constraint audit_changes_pkey;
alter table audit_changes add primary key (id);
create index audit_changes_org on audit_changes (org_id, id);
