// Processes a stored event: finds the scheduled tasks and automations with a matching trigger, and starts their missions. The outcome is
// written in the transaction that writes the runs, so that an event starts each mission only once, however often the job runs.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Project } from '../../projects/projects/model.ts';
import { type InboundEvent, isUsed } from '../../projects/vendors/event.ts';
import { withinOneLimit } from '../inbound-hooks/expressions.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import { readMissions } from '../recurring/dispatch.ts';
import { listMissionsWithEvents, startForEvent } from '../recurring/events.ts';
import { RecurringMission } from '../recurring/model.ts';
import { enqueueAnswer } from '../runs/answers.ts';
import { recordOrigin } from '../runs/decisions.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import type { WaitingRun } from '../runs/model.ts';
import { type Approver, admitEvent, type Ready } from './admission.ts';
import { withMember } from './author.ts';
import { concludeDelivery } from './conclude.ts';
import { readEvent } from './events/read.ts';
import { followRepositories, noteUnused } from './host-changes.ts';
import { isAbout, keyOf, mismatch, openHostFilter, type RuleMatch } from './match.ts';
import { type DeliveryOutcome, type DeliveryStatus, InboundDelivery } from './model.ts';
import { aboutPullRequest, recordRemark } from './pull-request.ts';
import { type DeliveryJob, type Postponement, postpone, postponeAfter, waitsForPlace } from './retry.ts';
import { isStopped, queuePostponement, queueSessionOutcome, settleSessionEvent, writeOutcome } from './session.ts';

/**
 * Processes a stored delivery once. An event that cannot be processed yet is retried later (./retry.ts). @throws internal errors, after
 * which the job is retried
 */
export async function processDelivery({ deliveryId, approvedBy = null }: DeliveryJob): Promise<void> {
  const delivery = await InboundDelivery.find({ id: deliveryId });
  if (delivery?.status !== 'received') return;
  const hook = await InboundHook.find({ id: delivery.hookId });
  if (!hook) return;
  await processFor(hook, delivery, approvedBy).catch((error) => postponeAfter(error, delivery, approvedBy));
}

async function processFor(hook: InboundHook, delivery: InboundDelivery, approvedBy: Approver): Promise<void> {
  const read = readEvent(hook, delivery);
  const unfollowed = await followRepositories(hook, read);
  if (!isUsed(read)) {
    await noteUnused(hook, read);
    return concludeDelivery(delivery.id, 'ignored', unfollowed ?? read.reason, read.title);
  }
  if (unfollowed !== null) return concludeDelivery(delivery.id, 'ignored', unfollowed, read.title);
  const event = await withMember(delivery.orgId, read);
  const about = await aboutPullRequest(hook, event);
  if (about) return recordRemark(delivery.id, event, about, approvedBy);
  const { matches, reason } = await findMatches(hook, event);
  if (matches.length === 0 && event.session) return settleSessionEvent(delivery, event, { status: 'ignored', reason });
  if (matches.length === 0) return concludeDelivery(delivery.id, 'ignored', reason, event.title);
  // An agent session shows only one mission, so only the first match counts.
  if (event.session) matches.length = 1;
  const settled = new Set(delivery.outcomes.filter(isSettled).map(({ recurringId }) => recurringId));
  if (await waitsForPlace(delivery, event, approvedBy)) return queuePostponement(delivery, event);
  const ready: Ready[] = [];
  for (const match of matches) {
    if (!settled.has(match.mission.id)) ready.push(await admitEvent(hook, event, match, approvedBy));
  }
  const runs = await transaction((trx) => start(trx, delivery.id, event, ready, approvedBy));
  await deliverRuns(runs, await readMissions(runs));
}

async function findMatches(
  { orgId, id: hookId, vendor }: InboundHook,
  event: InboundEvent,
): Promise<{ matches: RuleMatch[]; reason: string }> {
  const missions = await listMissionsWithEvents(orgId);
  const projects = await Project.findByKeys('id', [...new Set(missions.map(({ projectId }) => projectId))]);
  const isOfHost = await openHostFilter(orgId);
  const projectsById = new Map(projects.map((project) => [project.id as string, project]));
  const reasons: string[] = [];
  const matches: RuleMatch[] = [];
  for (const mission of missions) {
    const project = projectsById.get(mission.projectId);
    if (!project || !isAbout(event, project) || !isOfHost(project, vendor, event)) continue;
    // Yields to other work of the process between missions, because each may evaluate expressions for a while.
    await new Promise(setImmediate);
    const { trigger, found } = withinOneLimit(() => findMatchingTrigger(mission, hookId, event));
    if (trigger) matches.push({ mission, project, trigger });
    else reasons.push(...found.map((reason) => `${mission.name}: ${reason}`));
  }
  const about = event.repository ? ` of ${event.repository}` : '';
  const why =
    reasons.length > 0
      ? reasons.slice(0, 5).join('; ')
      : `no enabled automation or task has a rule for such an event${about}`;
  return { matches, reason: `No rule matched: ${why}.` };
}

/** The first trigger that matches or, if none does, the reasons of the triggers for events of this kind. */
function findMatchingTrigger({ eventTriggers }: RecurringMission, hookId: string, event: InboundEvent) {
  const found: string[] = [];
  for (const trigger of eventTriggers) {
    const refusal = mismatch(trigger, hookId, event);
    if (!refusal) return { trigger, found };
    if (!refusal.isOther) found.push(refusal.reason);
  }
  return { trigger: null, found };
}

const isSettled = ({ result }: DeliveryOutcome): boolean => result === 'started' || result === 'ignored';

/** Writes the runs and the outcome, unless another process has already processed the delivery. */
async function start(
  trx: Transaction,
  id: string,
  event: InboundEvent,
  ready: readonly Ready[],
  approvedBy: Approver,
): Promise<WaitingRun[]> {
  const delivery = await InboundDelivery.lock(trx, { id: id as never });
  if (delivery?.status !== 'received') return [];
  const { session } = event;
  if (session && approvedBy === null && (await isStopped(trx, delivery, session))) {
    const reason = 'It was stopped before its mission began.';
    await writeOutcome(trx, delivery, event, { status: 'ignored', reason, activity: null });
    return [];
  }
  const runs: WaitingRun[] = [];
  const outcomes = delivery.outcomes.filter(isSettled);
  let later: Postponement | null = null;
  for (const one of ready) {
    const { outcome, run, needsPlace = false } = await startOne(trx, delivery, event, one);
    outcomes.push(outcome);
    if (run) runs.push(run);
    if (outcome.result === 'later') later ??= { reason: outcome.reason!, needsPlace };
  }
  const status = statusOf(outcomes);
  if (runs.length > 0 && event.reactsTo) await enqueue(trx, 'reaction', { deliveryId: delivery.id });
  const reason = outcomes.find(({ result }) => result === 'waiting')?.reason ?? null;
  if (session && status !== 'received') {
    const [outcome] = outcomes;
    await queueSessionOutcome(trx, delivery, session, { status, reason: outcome?.reason ?? '', runId: runs[0]?.id });
  }
  await InboundDelivery.patch(
    trx,
    { id: delivery.id },
    {
      outcomes,
      status,
      reason,
      title: event.title,
      processedAt: status === 'received' ? null : now(),
    },
  );
  if (later) await postpone(trx, delivery, approvedBy, later);
  if (later && session) await queueSessionOutcome(trx, delivery, session, { status, reason: later.reason });
  return runs;
}

function statusOf(outcomes: readonly DeliveryOutcome[]): DeliveryStatus {
  const results = new Set(outcomes.map(({ result }) => result));
  if (results.has('later')) return 'received';
  if (results.has('waiting')) return 'waiting';
  return results.has('started') ? 'started' : 'ignored';
}

const takeKeySql = `insert into inbound_keys (recurring_id, key, created_at) values ($1, $2, $3)
  on conflict (recurring_id, key) do nothing returning key`;
async function startOne(
  trx: Transaction,
  delivery: InboundDelivery,
  event: InboundEvent,
  { mission, trigger, refusal, ...own }: Ready,
): Promise<{ outcome: DeliveryOutcome; run?: WaitingRun; needsPlace?: boolean }> {
  const { id: recurringId, name } = mission;
  const outcome = (
    result: DeliveryOutcome['result'],
    reason: string | null,
    runId: DeliveryOutcome['runId'] = null,
  ) => ({
    outcome: { recurringId, name, result, reason, runId },
  });
  if (refusal) return outcome(refusal.result, refusal.reason);
  const locked = await RecurringMission.query(trx).findOne({ id: recurringId, enabled: true }).forNoKeyUpdate();
  if (!locked) return outcome('ignored', 'It was disabled or deleted in the meantime.');
  if (locked.updatedAt !== mission.updatedAt) return outcome('later', 'It was changed in the meantime.');
  const eventKey = keyOf(trigger, event);
  // A person who repeats a delivery wants its missions to start again, so the delivery gets a key of its own.
  const key = eventKey === null || delivery.redeliveryOf ? `delivery ${delivery.id}` : eventKey;
  if ((await sql(takeKeySql, [recurringId, key, now()], trx)).length === 0) {
    const [earlier] = await sql<{ runId: string | null }>(
      'select run_id from inbound_keys where recurring_id = $1 and key = $2',
      [recurringId, key],
      trx,
    );
    return outcome('ignored', `The same event has already started ${earlier?.runId ?? 'a mission'}.`);
  }
  const started = await startForEvent(trx, { ...locked }, own);
  if (started && 'id' in started) {
    await sql(
      'update inbound_keys set run_id = $3 where recurring_id = $1 and key = $2',
      [recurringId, key, started.id],
      trx,
    );
    const originNumber = own.issue ? null : event.number;
    // No comment reports on a mission that an agent session has started, because domain/lifecycle/agent-sessions reports to the session.
    if (!event.session && (own.issue || originNumber !== null)) {
      const origin = { originDeliveryId: delivery.id, originNumber };
      await recordOrigin(trx, started.id, origin);
      await enqueueAnswer(trx, { id: started.id, ...origin });
    }
    return { ...outcome('started', null, started.id), run: started };
  }
  await sql('delete from inbound_keys where recurring_id = $1 and key = $2', [recurringId, key], trx);
  if (!started) return outcome('ignored', 'Its project is being deleted.');
  // A mission that does not start because of a cost limit or the maximum number of open missions may be able to start later. Any other obstacle (a
  // missing model, a paused project, an open run) remains until a person removes it.
  const { problem, reason } = started;
  if (problem?.status !== 402) return outcome('ignored', reason);
  // A used-up budget of a person or project does not block other missions.
  return { ...outcome('later', reason), needsPlace: problem.body.code !== 'budget_exhausted' };
}
