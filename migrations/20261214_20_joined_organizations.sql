-- An organization that comes from another installation keeps the checkpoints of its audit log, which that installation has signed.
-- up
create table audit_joined_keys (
  org_id text collate "C" not null references organizations on delete cascade,
  id text collate "C" not null,
  algorithm text not null,
  public_key text not null,
  -- The public key, sealed with the service key: proves that the service has added it.
  sealed_public_key text not null,
  created_at bigint not null,
  -- When the organization joined: later checkpoints are signed by this installation.
  retired_at bigint not null,
  primary key (org_id, id)
);
-- The key of a checkpoint or an attestation may be one of these.
alter table audit_checkpoints drop constraint audit_checkpoints_key_id_fkey;
alter table attestations drop constraint attestations_key_id_fkey;
-- down
alter table attestations add constraint attestations_key_id_fkey foreign key (key_id) references audit_keys not valid;
alter table audit_checkpoints add constraint audit_checkpoints_key_id_fkey foreign key (key_id) references audit_keys not valid;
drop table audit_joined_keys;
