// The mission of an issue of the built-in tracker that is assigned to an agent. The issue is locked, so that it has at most one open
// mission.
import type { Caller } from '#access/principal.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { lockAgentOf } from '../../projects/agents/operations.ts';
import { readComments } from '../../projects/issues/comments.ts';
import type { Issue } from '../../projects/issues/model.ts';
import { issuePage } from '../../projects/vendors/builtin/tracker.ts';
import { textOfIssue } from '../../projects/vendors/issue-text.ts';
import { enqueueAnswer } from '../runs/answers.ts';
import { recordOrigin } from '../runs/decisions.ts';
import { cancelRuns } from '../runs/finish.ts';
import type { Run } from '../runs/model.ts';
import { findRunOfIssue } from '../runs/remarks.ts';
import { isOpen } from '../runs/states.ts';
import { writeMission } from '../starts/operations.ts';
import { type IssueAction, noteIssueEvent } from './events.ts';

/** The open run that works on the issue. */
export async function openRunOf(trx: Transaction, { id, projectId }: Issue): Promise<Run | null> {
  const run = await findRunOfIssue(trx, { projectId, issueId: id });
  return run && isOpen(run) ? run : null;
}

/**
 * Starts a mission of the agent on the issue, billed to the caller.
 * @throws 400 for an agent that runs scripts, 404 for an unknown agent, and the errors of starting any mission
 */
export async function startOnIssue(trx: Transaction, caller: Caller, issue: Issue, agentId: string): Promise<void> {
  const { id, orgId, projectId, key, title, body } = issue;
  if (await openRunOf(trx, issue)) {
    throw conflict('A mission is already working on the issue: comment to steer it, or cancel it first.');
  }
  const { name, harness } = await lockAgentOf(trx, orgId, agentId);
  if (harness === 'shell') throw invalid.field('assigneeId', `must be another agent: ${name} runs prompts as scripts`);
  const url = await consolePage(orgId, issuePage(id));
  const text = textOfIssue({ id, url, title, body, comments: await readComments(id, trx) });
  const mission = { projectId, prompt: `Solve the issue ${key}.`, title: `${key}: ${title}`, agentId };
  const run = await writeMission(trx, caller, mission, { id, url, text });
  const action: IssueAction = { name: 'issues', action: 'assigned', agent: name };
  const settled = { status: 'started' as const, reason: `The agent ${name} works on it: ${run.id}.` };
  const originDeliveryId = await noteIssueEvent(trx, caller, issue, action, settled);
  const origin = { originDeliveryId, originNumber: null };
  await recordOrigin(trx, run.id, origin);
  await enqueueAnswer(trx, { id: run.id, ...origin });
}

/** Cancels the open mission of the issue. */
export const cancelOnIssue = (trx: Transaction, { id, projectId }: Issue, reason: string): Promise<number> =>
  cancelRuns(trx, { projectId, issueId: id }, reason);
