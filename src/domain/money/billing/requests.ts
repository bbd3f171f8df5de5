// Requests for credits: a member sends a request, and the organization's owners read it in the billing summary. Further messages are
// appended to the open request.
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Key } from '#foundation/postgres/base-model.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { BillingSettings, CreditRequest, type TrackerTriggerPolicy } from './model.ts';
import { billing } from './terms.ts';

export interface RequestedCredits {
  id: string;
  status: 'open';
  /** Whether the message was appended to an open request. */
  appended: boolean;
  routedTo: 'owners';
}

/** Sends a request for credits. @throws 409 beyond the maximum number of messages in a request */
export const requestCredits = (caller: Caller, message: string): Promise<RequestedCredits> => {
  const orgId = wholeOrganization(caller);
  const at = now();
  const words = { message, userId: ownPerson(caller), at };
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const open = await CreditRequest.query(trx).findOne({ orgId, closedAt: null });
    if (!open) {
      const id = newId('creditRequest');
      await CreditRequest.insert(trx, { id, orgId, messages: [words], createdAt: at });
      return { id, status: 'open', appended: false, routedTo: 'owners' };
    }
    if (open.messages.length >= billing.messages)
      throw conflict(
        `The open request already has ${billing.messages} messages, the maximum: wait until it is answered.`,
      );
    await CreditRequest.patch(trx, { id: open.id }, { messages: [...open.messages, words] });
    return { id: open.id, status: 'open', appended: true, routedTo: 'owners' };
  });
};

/** Open requests of one organization or of all, oldest first. */
export const listOpenCreditRequests = async (
  orgId: CreditRequest['orgId'] | null,
  limit: number,
): Promise<CreditRequest[]> => {
  const isOpen: Key<CreditRequest> = { closedAt: null, ...(orgId && { orgId }) };
  return CreditRequest.query()
    .select(...CreditRequest.columns)
    .where(isOpen)
    .orderBy(['createdAt', 'id'])
    .limit(limit);
};

/** Closes the open request after credits were bought or granted, or the operator declined. Returns whether a request was open. */
export async function closeCreditRequest(trx: Transaction, orgId: string): Promise<boolean> {
  const closed = await CreditRequest.patch(trx, { orgId, closedAt: null }, { closedAt: now() });
  return closed > 0;
}

/** The authors whose issues and comments may start missions; `anyone` until it is set. */
export const trackerTriggersOf = async (orgId: string): Promise<TrackerTriggerPolicy> =>
  (await BillingSettings.find({ orgId }))?.trackerTriggers ?? 'anyone';

export const updateTrackerTriggers = (
  orgId: BillingSettings['orgId'],
  trackerTriggers: TrackerTriggerPolicy,
): Promise<void> => transaction((trx) => BillingSettings.upsert(trx, { orgId, trackerTriggers, updatedAt: now() }));
