// Consent of an organization to recordings, and how long they are kept. Nothing is recorded until an owner has consented.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, organizationClosed } from '#foundation/problem.ts';
import { isAnyErased } from '../../organization/person-keys/erasures.ts';
import { recordingBounds } from './bounds.ts';
import { destroyRecordingKeys, makeKey } from './keys.ts';

export interface RecordingSettings {
  isEnabled: boolean;
  days: number;
}

const off: RecordingSettings = { isEnabled: false, days: recordingBounds.days.default };
const findSql = 'select is_enabled, days from recording_settings where org_id = $1';
const setSql = `insert into recording_settings (org_id, is_enabled, days) values ($1, $2, $3)
  on conflict (org_id) do update set is_enabled = excluded.is_enabled, days = excluded.days`;

export async function findRecordingSettings(caller: Caller): Promise<RecordingSettings> {
  const [found] = await sql<RecordingSettings>(findSql, [wholeOrganization(caller)]);
  return found ?? off;
}

/** Gives or withdraws the consent. A withdrawal deletes all recordings of the organization. @throws 403 unless the caller is an owner */
export async function setRecordingSettings(caller: Caller, settings: RecordingSettings): Promise<RecordingSettings> {
  beyondOneProject(caller);
  if (caller.isOrgClosed) throw organizationClosed();
  if (caller.role !== 'owner') throw forbidden('Only an owner can decide whether missions are recorded.');
  const { isEnabled, days } = settings;
  const orgId = ownOrganization(caller);
  await transaction(async (trx) => {
    await sql(setSql, [orgId, isEnabled, days], trx);
    if (isEnabled) return makeKey(trx, orgId);
    await sql('delete from recording_parts where org_id = $1', [orgId], trx);
    await destroyRecordingKeys(trx, orgId);
  });
  return settings;
}

const consentSql = 'select org_id from recording_settings where org_id = $1 and is_enabled';

export const isRecorded = async (trx: Transaction, orgId: string): Promise<boolean> =>
  (await sql(consentSql, [orgId], trx)).length > 0;

/**
 * Checks the consent, and prevents its withdrawal until `trx` ends. @param people The people whose missions are in the recording
 * @throws 409 without consent, and when one of the people is erased
 */
export async function requireConsent(trx: Transaction, orgId: string, people: readonly string[]): Promise<void> {
  const found = await sql(`${consentSql} for share`, [orgId], trx);
  if (found.length === 0) throw conflict('The organization does not record missions.');
  if (await isAnyErased(trx, orgId, people))
    throw conflict(
      'The personal data of a person who started this mission, or an earlier mission that it continues, was erased.',
    );
}

/** Prevents parts of recordings from being opened or reported until `trx` ends. */
export const lockConsent = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql('select 1 from recording_settings where org_id = $1 for update', [orgId], trx));
