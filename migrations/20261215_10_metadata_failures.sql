-- Since when the metadata of a SAML provider cannot be used, so that its admins learn of it before the provider has new keys.
-- up
alter table identity_providers add column metadata_failing_since bigint;
-- down
alter table identity_providers drop column metadata_failing_since;
