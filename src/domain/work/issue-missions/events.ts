// Events of the built-in tracker, stored as deliveries of one hook per organization, so that rules, the list of events and approvals work
// as for events of other systems.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { Person } from '../../organization/people/model.ts';
import type { Issue } from '../../projects/issues/model.ts';
import type { BuiltinPayload } from '../inbound/events/builtin.ts';
import { InboundDelivery } from '../inbound/model.ts';
import { builtinHook } from '../inbound-hooks/operations.ts';

/** A person's action on an issue. `agent` is the name of the agent to which the issue was assigned. */
export type IssueAction = { name: 'issues' | 'issue_comment' } & Omit<BuiltinPayload, 'issue' | 'sender'>;

/** The outcome of an event about which no rule has to decide. */
type Settled = Pick<InboundDelivery, 'status' | 'reason'>;

/** Stores the event. Without `settled`, a background job then looks for matching rules. */
export async function noteIssueEvent(
  trx: Transaction,
  caller: Caller,
  { id: issueId, projectId, key, title, body, labels }: Issue,
  { name, ...action }: IssueAction,
  settled: Settled | null = null,
): Promise<InboundDelivery['id']> {
  const orgId = ownOrganization(caller);
  const person = await Person.get({ id: ownPerson(caller) });
  const [hookId, id, at] = [await builtinHook(trx, orgId), newId('inboundDelivery'), now()];
  const issue = { id: issueId, key, title, body, labels, projectId };
  const sender = { id: person.id, name: person.name };
  await InboundDelivery.insert(trx, {
    ...{ id, orgId, hookId, externalId: id, event: `${name}.${action.action}` },
    title: `${title} (${key})`,
    payload: JSON.stringify({ ...action, issue, sender } satisfies BuiltinPayload),
    headers: null,
    status: settled?.status ?? 'received',
    reason: settled?.reason ?? null,
    outcomes: [],
    answerProblems: null,
    redeliveryOf: null,
    receivedAt: at,
    processedAt: settled && at,
    createdAt: at,
  });
  if (!settled) await enqueue(trx, 'inbound event', { deliveryId: id });
  return id;
}
