// Erases a person who has left the organization: the keys of their personal values in the audit log, the recordings of their missions, and
// their name and email address in other records. This happens in one transaction, during which no events are numbered and no memberships
// change.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, notFound, organizationClosed } from '#foundation/problem.ts';
import { recordAction } from '../../../organization/audit-changes/changes.ts';
import { deleteInactiveUser } from '../../../organization/directory/erase-user.ts';
import { deleteInvitesTo } from '../../../organization/invites/operations.ts';
import { Membership } from '../../../organization/memberships/model.ts';
import { lockOwnMembership, ownOrganizationOnly } from '../../../organization/memberships/operations.ts';
import { lockOrganization } from '../../../organization/organizations/operations.ts';
import { normalizeEmail } from '../../../organization/people/email.ts';
import { Person } from '../../../organization/people/model.ts';
import { findErasures, recordErasure } from '../../../organization/person-keys/erasures.ts';
import { destroyKeys, subjectOfAddress } from '../../../organization/person-keys/keys.ts';
import { RunFork } from '../../../work/forks/model.ts';
import { deleteRecordingsOf, deleteRecordingsOfRuns } from '../../../work/recordings/operations.ts';
import { numberChangesIn } from '../numbers.ts';
import { replaceNames } from './records.ts';

export interface PersonErasure {
  /**
   * The id that stands for the person in the audit event about the erasure. It is the person's id, or, if only data about an email address
   * without an account are erased, a digest of this address.
   */
  personId: string;
  erasedAt: number;
  /** Number of invites that this call deleted, and number of missions whose recordings it deleted. */
  invites: number;
  recordings: number;
}

/**
 * Erases the person with this id or email address. A repeated call changes nothing. @throws 403 unless the caller is an owner, 404 for a
 * person about whom the organization has no data, 409 for a member or an active user of the directory, and in a closed organization
 */
export function erasePerson(caller: Caller, orgId: string, person: string): Promise<PersonErasure> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  if (caller.isOrgClosed) throw organizationClosed();
  return transaction(async (trx) => {
    await lockOrganization(trx, ownOrgId);
    const { role } = await lockOwnMembership(trx, caller);
    if (role !== 'owner') throw forbidden('Only an owner can erase a person.');
    return erase(trx, ownOrgId, await findErased(trx, ownOrgId, person));
  });
}

interface Erased {
  personId: string;
  /** The account; undefined for an email address without an account. */
  account: Person | undefined;
  address: string;
  /** Subjects (ids and email addresses) whose keys are destroyed. */
  subjects: string[];
}

/** Finds the data to erase. @throws 409 for a member, 404 for a text that is neither the id of a person nor an email address */
async function findErased(trx: Transaction, orgId: Id<'organization'>, person: string): Promise<Erased> {
  const isAddress = person.includes('@');
  const account = await Person.find(
    isAddress ? { email: normalizeEmail(person) } : { id: person as Person['id'] },
    trx,
  );
  if (account && (await Membership.find({ orgId, userId: account.id }, trx)))
    throw conflict.field('person', 'is a member of this organization; remove the member first');
  if (!account && !isAddress) throw notFound('person');
  if (account && isAddress && !(await isInLog(trx, orgId, account.id))) return addressOnly(orgId, account.email);
  const address = account?.email ?? normalizeEmail(person);
  if (!account) return addressOnly(orgId, address);
  return { personId: account.id, account, address, subjects: [account.id, subjectOfAddress(orgId, address).id] };
}

/** The email address alone, without the account: the response must not reveal whether an account with this address exists in another organization. */
function addressOnly(orgId: string, address: string): Erased {
  const { id } = subjectOfAddress(orgId, address);
  return { personId: id, account: undefined, address, subjects: [id] };
}

async function erase(
  trx: Transaction,
  orgId: Id<'organization'>,
  { personId, account, address, subjects }: Erased,
): Promise<PersonErasure> {
  // Rows of other tables are locked first and the counter last. All other code that locks both uses the same order, which prevents
  // deadlocks.
  const invites = await deleteInvitesTo(trx, orgId, address);
  const directoryUsers = await deleteInactiveUser(trx, orgId, address);
  const recordings = account ? await deleteRecordings(trx, orgId, account.id) : 0;
  const names = account ? await replaceNames(trx, orgId, account.id) : 0;
  const { lastNumber } = await numberChangesIn(trx, orgId);
  const keys = await destroyKeys(trx, orgId, subjects);
  const [earlier] = await findErasures(orgId, subjects, trx);
  const found = invites + directoryUsers + recordings + names + keys;
  if (found === 0 && earlier) return { personId, erasedAt: earlier.createdAt, invites, recordings };
  if (found === 0 && !(account && (await isInLog(trx, orgId, account.id)))) throw notFound('person');
  const erasedAt = now();
  await recordErasure(trx, orgId, { subjects, number: lastNumber, at: erasedAt });
  await recordAction(orgId, 'erased_person', { id: personId, invites, recordings }, trx);
  return { personId, erasedAt, invites, recordings };
}

/**
 * Deletes the recordings of the person's missions and of forks of these missions, which contain copies of recorded calls. Returns the
 * number of missions.
 */
async function deleteRecordings(trx: Transaction, orgId: Id<'organization'>, personId: string): Promise<number> {
  const deleted = new Set<string>();
  for (let runs = await deleteRecordingsOf(trx, orgId, personId); runs.length > 0; ) {
    for (const id of runs) deleted.add(id);
    const forks = await RunFork.findByKeys('sourceRunId', runs as RunFork['sourceRunId'][], { orgId }, trx);
    runs = await deleteRecordingsOfRuns(
      trx,
      orgId,
      forks.map(({ runId }) => runId),
    );
  }
  return deleted.size;
}

const inLogSql = `select exists (select from audit_events where org_id = $1 and actor_id = $2)
  or exists (select from audit_events where org_id = $1 and on_behalf_of = $2)
  or exists (select from audit_events where org_id = $1 and subject_id = $2) as found`;

/** Whether an event names the person in plain text, which is possible for events from before personal values were sealed. */
const isInLog = async (trx: Transaction, orgId: string, personId: string): Promise<boolean> =>
  (await sql<{ found: boolean }>(inLogSql, [orgId, personId], trx))[0]!.found;
