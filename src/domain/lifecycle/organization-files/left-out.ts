// Tables that are left out of an organization's file, with the reason.
const ofInstallation = 'belongs to the installation';
const ofPeople = 'belongs to people, whose sign-in is that of each installation';
const underWay = 'a step under way that takes minutes, and is repeated';

export const leftOut: Readonly<Record<string, string>> = {
  audit_keys: 'the file has the public keys in its header',
  authorization_codes: underWay,
  billing_events: ofInstallation,
  cell_organizations: ofInstallation,
  cell_registrations: ofInstallation,
  cell_slugs: ofInstallation,
  claim_attempts: underWay,
  client_documents: ofInstallation,
  credit_trials: ofPeople,
  database_backups: ofInstallation,
  knex_migrations: ofInstallation,
  knex_migrations_lock: ofInstallation,
  mcp_authorizations: underWay,
  mission_notice_choices: ofPeople,
  notice_mail_settings: ofPeople,
  org_exports: 'an archive with the same data',
  passkeys: ofPeople,
  provider_sign_ins: underWay,
  registration_counts: ofInstallation,
  sessions: ofPeople,
  sign_in_codes: ofPeople,
  sign_in_links: ofPeople,
  signing_keys: ofInstallation,
  throttle_counts: ofInstallation,
  used_jtis: ofInstallation,
  used_passkey_challenges: ofInstallation,
  vendor_turns: ofInstallation,
};
