// Starts a mission on each of several issues, of the built-in tracker or of connected ones.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, reachesProject } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid, Problem } from '#foundation/problem.ts';
import { lockAgentOf } from '../../projects/agents/operations.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { refuseBeyondBounds } from '../../projects/sandbox-templates/mission-limits.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import type { Run, WaitingRun } from '../runs/model.ts';
import { findRunOfIssue } from '../runs/remarks.ts';
import { isOpen } from '../runs/states.ts';
import { findTrackerIssue, type NewMission, writeMission } from '../starts/operations.ts';

export interface ChosenIssue {
  projectId: string;
  /** Id of the issue: the tracker's own, or the name that people use, such as WEB-12. */
  issue: string;
}

export interface MissionsOnIssues extends Omit<NewMission, 'projectId' | 'prompt' | 'title' | 'issue'> {
  issues: readonly ChosenIssue[];
  /** The task for each issue; absent means that the agent solves the issue. */
  prompt?: string | null | undefined;
}

export interface StartOnIssue extends ChosenIssue {
  /** Id of the started run; null when the mission could not start. */
  runId: Id<'run'> | null;
  /** Why the mission could not start; null when it started. */
  reason: string | null;
}

type Found = ChosenIssue & ({ refusal: string } | Awaited<ReturnType<typeof findTrackerIssue>>);

/** Number of issues that are read from their trackers at the same time. */
const readAtOnce = 8;

/**
 * Starts as many of the missions as possible, and reports why the other missions could not start. For example, an issue can have only one
 * open mission.
 * @throws 400 for an agent that runs scripts and for limits above their maximum, 404 for an unknown agent or project; then no mission
 * starts
 */
export async function startMissions(caller: Caller, request: MissionsOnIssues): Promise<StartOnIssue[]> {
  const { issues, ...settings } = request;
  refuseBeyondBounds(settings);
  await refuseUnknownProjects(
    caller,
    issues.map(({ projectId }) => projectId),
  );
  await releaseTransaction();
  const found: Found[] = [];
  for (let i = 0; i < issues.length; i += readAtOnce)
    found.push(...(await Promise.all(issues.slice(i, i + readAtOnce).map((chosen) => find(caller, chosen)))));
  let started: WaitingRun[] = [];
  // The runs are committed before trackers are called; a repeated request gets the same runs and starts no further runs.
  const outcomes = await firstStep(async () => {
    const written = await transaction((trx) => writeAll(trx, caller, found, settings));
    started = written.flatMap(({ run }) => run ?? []);
    return JSON.stringify(written.map(({ run, ...outcome }) => ({ ...outcome, runId: run?.id ?? null })));
  });
  await deliverRuns(started, new Map());
  return JSON.parse(outcomes);
}

async function refuseUnknownProjects(caller: Caller, projectIds: readonly string[]): Promise<void> {
  const wanted = [...new Set(projectIds)];
  const found = await Project.findByKeys('id', wanted, { orgId: ownOrganization(caller) });
  if (found.length < wanted.length || !wanted.every((id) => reachesProject(caller, id))) Project.refuse();
}

const find = async (caller: Caller, chosen: ChosenIssue): Promise<Found> => ({
  ...chosen,
  ...(await findTrackerIssue(caller, chosen.projectId, chosen.issue).catch(refusalOf)),
});

function refusalOf(error: unknown): { refusal: string } {
  if (error instanceof Problem) return { refusal: error.body.description };
  throw error;
}

type Written = Omit<StartOnIssue, 'runId'> & { run: WaitingRun | null };

async function writeAll(
  trx: Transaction,
  caller: Caller,
  found: readonly Found[],
  settings: Omit<MissionsOnIssues, 'issues'>,
): Promise<Written[]> {
  if (settings.agentId) await refuseScriptAgent(trx, ownOrganization(caller), settings.agentId);
  // All issues are locked before the first mission is written, in the same order by every call, which prevents
  // deadlocks.
  const own = new Map<string, Issue>();
  const keyOf = (one: Found) => ('id' in one ? `issue ${one.projectId} ${one.id}` : null);
  for (const key of [...new Set(found.flatMap((one) => keyOf(one) ?? []))].sort()) {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
    const [, projectId, id] = key.split(' ') as [string, Id<'project'>, Id<'issue'>];
    const locked = await Issue.lock(trx, { id, projectId });
    if (locked) own.set(key, locked as Issue);
  }
  const written: Written[] = [];
  for (const one of found) {
    const { projectId, issue } = one;
    const chosen = { projectId, issue };
    if ('refusal' in one) {
      written.push({ ...chosen, run: null, reason: one.refusal });
      continue;
    }
    const start = trx.transaction((savepoint) => startOn(savepoint, caller, one, own.get(keyOf(one)!), settings));
    written.push(
      await start.then(
        (run) => ({ ...chosen, run, reason: null }),
        (error) => ({ ...chosen, run: null, reason: refusalOf(error).refusal }),
      ),
    );
  }
  return written;
}

async function refuseScriptAgent(trx: Transaction, orgId: Run['orgId'], agentId: string): Promise<void> {
  const { name, harness } = await lockAgentOf(trx, orgId, agentId);
  if (harness === 'shell') throw invalid.field('agentId', `must be another agent: ${name} runs prompts as scripts`);
}

/** Starts the mission on one issue. @param own The issue, if it belongs to the built-in tracker */
async function startOn(
  trx: Transaction,
  caller: Caller,
  { projectId, issue: _, ...issue }: Extract<Found, { id: string }>,
  own: Issue | undefined,
  { prompt, ...settings }: Omit<MissionsOnIssues, 'issues'>,
): Promise<WaitingRun> {
  if (own?.state === 'closed') throw conflict('The issue is closed: reopen it first.');
  const before = await findRunOfIssue(trx, { projectId: projectId as Id<'project'>, issueId: issue.id });
  if (before && isOpen(before)) throw conflict(`A mission is already working on the issue: ${before.id}.`);
  const name = own?.key ?? issue.id;
  const mission = {
    ...{ projectId, title: `${name}: ${issue.title}`, prompt: prompt ?? `Solve the issue ${name}.` },
    ...settings,
  };
  return writeMission(trx, caller, mission, issue);
}
