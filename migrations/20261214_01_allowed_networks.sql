-- Networks from which an organization accepts its credentials. The statement that looks up a credential reads them.
-- up
alter table organizations
  -- Null when requests may come from everywhere.
  add column allowed_networks cidr[] check (cardinality(allowed_networks) > 0);
-- Most organizations have no list: the look-up of a credential finds that out in a small index.
create index organizations_allowed_networks on organizations (id) where allowed_networks is not null;

create or replace trigger organizations_audit_updated after update of name, slug, closed_at, allowed_networks on organizations
  for each row when ((old.name, old.slug, old.closed_at, old.allowed_networks)
    is distinct from (new.name, new.slug, new.closed_at, new.allowed_networks))
  execute function record_audit_change('id');
-- down
create or replace trigger organizations_audit_updated after update of name, slug, closed_at on organizations
  for each row when (old.name is distinct from new.name or old.slug is distinct from new.slug or old.closed_at is distinct from new.closed_at)
  execute function record_audit_change('id');
drop index organizations_allowed_networks;
alter table organizations drop column allowed_networks;
