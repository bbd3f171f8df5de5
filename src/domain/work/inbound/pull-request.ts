// Events about a pull request that a mission has opened: within the limits of the project they continue that mission, and rules of
// automations and tasks do not apply.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { memberBehind } from '../../projects/host-accounts/operations.ts';
import { defaultLoop, type Project } from '../../projects/projects/model.ts';
import type { InboundEvent, Remark } from '../../projects/vendors/event.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import { listMissionsWithEvents } from '../recurring/events.ts';
import { checkSoon } from '../runs/branch.ts';
import { recordApproval, recordRevert } from '../runs/decisions.ts';
import type { Run } from '../runs/model.ts';
import { boundReached, findRunOfPullRequest, historyOf, noteRemark } from '../runs/remarks.ts';
import { type Approver, authorRefusal, type People } from './admission.ts';
import { withLogs } from './host-changes.ts';
import { projectsOf } from './match.ts';
import { InboundDelivery } from './model.ts';

interface About {
  project: Project;
  run: Run;
  remark: Remark;
}

/** Actions after which the state of a pull request is read again: a push to it may resolve or cause a conflict. */
const changes: readonly string[] = ['closed', 'conflicting', 'reopened', 'synchronize'];

/** Finds the mission that the event continues; null when the rules decide about the event. */
export async function aboutPullRequest({ orgId, vendor }: InboundHook, event: InboundEvent): Promise<About | null> {
  const { remark, branch } = event;
  const isChanged = event.kind === 'pullRequest' && changes.includes(event.action);
  if (!remark && !isChanged) return null;
  const projects = await projectsOf(orgId, vendor, event);
  if (event.reverts !== null)
    await recordRevert(
      projects.map(({ id }) => id),
      event.reverts,
    );
  const run = await findRunOfPullRequest(
    projects.map(({ id }) => id),
    { number: remark?.number ?? null, branch },
  );
  // The remark may belong to a thread on changed lines. Such threads are only read together with the pull request.
  if (run && (isChanged || remark?.number != null)) await checkSoon(run.id);
  if (run?.prNumber == null || !remark) return null;
  const project = projects.find(({ id }) => id === run.projectId)!;
  if ((project.pullRequestLoop ?? defaultLoop).rounds === 0) return null;
  if (remark.number !== null && !remark.isReview && !(await mentionsAgent(orgId, event.words))) return null;
  return { project, run, remark };
}

/** Whether the text mentions an agent: `@agent`, or a name from one of the rules. */
export async function mentionsAgent(orgId: string, words: string): Promise<boolean> {
  const rules = (await listMissionsWithEvents(orgId)).flatMap(({ eventTriggers }) => eventTriggers);
  const names = ['agent', ...rules.flatMap(({ mention }) => mention?.toLowerCase() ?? [])];
  const mentioned = new Set(words.split(' '));
  return names.some((name) => mentioned.has(`@${name}`));
}

/** Stores the remark for the mission, or records why the remark does not continue the mission. */
export async function recordRemark(
  id: InboundDelivery['id'],
  event: InboundEvent,
  { project, run, remark }: About,
  approvedBy: Approver,
): Promise<void> {
  const member = await memberBehind(project, event.author);
  const refusal = await refusalOf(event, { project, run, remark }, { approvedBy, member });
  const text = refusal ? '' : ((await withLogs(project, event)).remark?.text ?? '');
  await transaction(async (trx) => {
    const delivery = await InboundDelivery.lock(trx, { id });
    if (delivery?.status !== 'received') return;
    const said: string[] = [];
    if (text !== '') {
      const author = event.author?.login ?? '';
      await noteRemark(trx, run.id, {
        key: remark.key,
        author,
        text,
        actorUserId: approvedBy ?? member,
        deliveryId: id,
      });
      said.push(`Sent to ${run.id}, the mission of the pull request.`);
      if (event.reactsTo) await enqueue(trx, 'reaction', { deliveryId: id });
    }
    if (!refusal && remark.approves) {
      // Only the newest commit can be merged, so an approval of an earlier commit does not count.
      await recordApproval(trx, run.id, remark.approves);
      await enqueue(trx, 'commit status', { runId: run.id });
      said.push(`It approves the commit ${remark.approves} of ${run.id}.`);
    }
    const { result: status, reason } = refusal ?? { result: 'started' as const, reason: said.join(' ') };
    await InboundDelivery.patch(trx, { id }, { status, reason, title: event.title, processedAt: now() });
  });
  if (!refusal && remark.approves) await checkSoon(run.id);
}

type Refusal = { result: 'waiting' | 'ignored'; reason: string } | null;

async function refusalOf(event: InboundEvent, { project, run, remark }: About, people: People): Promise<Refusal> {
  const history = await historyOf(run);
  const isApproval = remark.approves !== null && remark.approves === history.head;
  if (remark.text === '' && !isApproval) return { result: 'ignored', reason: 'The review has no text.' };
  if (remark.sha !== null && remark.sha !== history.head)
    return {
      result: 'ignored',
      reason: `The check is about ${remark.sha}, but the newest commit of the mission is ${history.head}.`,
    };
  const refusal = await authorRefusal(event, project, { from: 'writers', ...people });
  if (refusal || people.approvedBy !== null || remark.text === '') return refusal;
  const reason = boundReached(project, history);
  return reason === null ? null : { result: 'waiting', reason };
}
