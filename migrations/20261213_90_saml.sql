-- SAML 2.0 as a second protocol of identity providers: their metadata, and answers between the POST of a provider and the page of the browser.
-- up
alter table identity_providers
  add column protocol text not null default 'oidc' check (protocol in ('oidc', 'saml')),
  alter column client_id drop not null,
  alter column sealed_secret drop not null,
  add column sign_in_url text,
  -- X.509 certificates in base64, several while a provider rotates its key.
  add column certificates text[] not null default '{}',
  add column metadata_url text,
  add column metadata_read_at bigint,
  add constraint identity_providers_protocol check (case protocol
    when 'oidc' then client_id is not null and sealed_secret is not null
    else sign_in_url is not null and certificates <> '{}' end);
create index identity_providers_metadata on identity_providers (metadata_read_at) where metadata_url is not null;

alter table provider_sign_ins
  -- The user of the answer, until the browser comes back with its cookie.
  add column sealed_answer text;

alter table used_jtis drop constraint used_jtis_kind_check;
alter table used_jtis add constraint used_jtis_kind_check check (kind in ('assertion', 'event', 'saml'));

create trigger identity_providers_audit_metadata after update of sign_in_url, certificates, metadata_url on identity_providers
  for each row when ((old.sign_in_url, old.certificates, old.metadata_url) is distinct from (new.sign_in_url, new.certificates, new.metadata_url)
    and (old.name, old.issuer, old.default_role, old.tested_at) is not distinct from (new.name, new.issuer, new.default_role, new.tested_at))
  execute function record_audit_change('org_id');
-- down
drop trigger identity_providers_audit_metadata on identity_providers;
delete from used_jtis where kind = 'saml';
alter table used_jtis drop constraint used_jtis_kind_check;
alter table used_jtis add constraint used_jtis_kind_check check (kind in ('assertion', 'event'));
alter table provider_sign_ins drop column sealed_answer;
delete from identity_providers where protocol = 'saml';
alter table identity_providers drop constraint identity_providers_protocol, drop column protocol, drop column sign_in_url, drop column certificates,
  drop column metadata_url, drop column metadata_read_at, alter column client_id set not null, alter column sealed_secret set not null;
