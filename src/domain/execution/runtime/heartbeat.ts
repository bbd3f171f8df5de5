// Heartbeats (docs/decisions/0031-runtimes-report-over-graphql.md): a runtime reports its runs, sandboxes and environments, and the
// response names those that have to stop. A heartbeat is written completely or not at all.
import type { Caller } from '#access/principal.ts';
import { minutes, now } from '#foundation/clock.ts';
import { announce, announceCommitted } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { lease, metricRetentionMs } from '#limits.ts';
import { renewHarnesses } from '../../projects/agents/runtime-harnesses.ts';
import { liveEnvironments } from '../../work/environments/operations.ts';
import {
  findHeldRuns,
  type HeldRun,
  isRunHeld,
  isUnchanged,
  type RunReport,
  renewalMs,
  renewLeases,
} from '../../work/runs/claim.ts';
import { acknowledgeMessages, type Delivered, deliverMessages, findOpenMessages } from '../../work/runs/messages.ts';
import { heldStates } from '../../work/runs/states.ts';
import { findRecentSandboxes, renewSandboxes, type SandboxReport } from '../../work/sandboxes/heartbeat.ts';
import { type RequestedTerminal, requestedTerminals } from '../../work/terminals/state.ts';
import { createHeartbeatIntervals } from './heartbeat-interval.ts';
import { beginDueMinutes } from './minutes.ts';
import { modelRevisions } from './models.ts';

/** Maximum time by which a runtime's clock may be ahead of this service's clock. */
const maxClockAheadMs = minutes(1);

export interface Heartbeat {
  runs: RunReport[];
  sandboxes: SandboxReport[];
  /** Ids of the preview environments that the runtime maintains. */
  environments: string[];
}

type Desired = 'run' | 'stop';
export const desiredOfRun = ['run', 'interrupt', 'stop'] as const;

export interface HeartbeatAnswer {
  runs: {
    runId: string;
    desired: (typeof desiredOfRun)[number];
    leaseUntil: number | null;
    /**
     * A value that changes whenever the model connectors of the organization change. Null when the run must stop, or has no agent with a
     * model.
     */
    modelRevision: string | null;
    /** Messages in order, repeated until they are acknowledged. */
    messages: Delivered[];
    /** Terminals to start; repeated until their shells are reported. */
    terminals: RequestedTerminal[];
  }[];
  nextHeartbeatMs: number;
  sandboxes: { sandboxId: string; desired: Desired }[];
  environments: { environmentId: string; desired: Desired }[];
}

const isRunOfSandboxHeld = isRunHeld('s.run_id', 's.lease_id', heldStates);

export async function heartbeat(caller: Caller, reported: Heartbeat): Promise<HeartbeatAnswer> {
  checkTimes(reported.sandboxes, now());
  const unchanged = await readUnchanged(caller, reported);
  if (unchanged) return answerOf(reported, unchanged);
  await beginDueMinutes(caller, reported.runs);
  const { known, measured } = await transaction((trx) => record(trx, caller, reported));
  for (const sandboxId of measured) announceCommitted(sandboxId);
  return answerOf(reported, known);
}

/** State of everything that a heartbeat reports. */
interface Known {
  held: ReadonlyMap<string, HeldRun>;
  messages: readonly Delivered[];
  terminals: readonly RequestedTerminal[];
  /** Revisions of model credentials by organization. */
  revisions: ReadonlyMap<string, string>;
  sandboxIds: ReadonlySet<string>;
  environmentIds: ReadonlySet<string>;
}

const intervals = createHeartbeatIntervals();

const agentsOf = (held: ReadonlyMap<string, HeldRun>) => [...held.values()].filter(({ canHear }) => canHear);
const orgIdsOf = (runs: readonly HeldRun[]) => [...new Set(runs.map(({ orgId }) => orgId))];
const byId = (runs: readonly HeldRun[]) => new Map(runs.map((run) => [run.id, run]));

/**
 * Reads the state for a heartbeat that changes nothing, like most heartbeats of agents. It needs no transaction, and its look-ups are sent
 * to the database together with those of other heartbeats. Returns null when something must be written.
 */
async function readUnchanged(caller: Caller, { runs, sandboxes, environments }: Heartbeat): Promise<Known | null> {
  const hasNews = ({ acknowledged }: RunReport) => acknowledged !== undefined && acknowledged.length > 0;
  if (runs.length === 0 || runs.some(hasNews) || sandboxes.some(({ metrics }) => metrics.length > 0)) return null;
  const at = now();
  const [found, sandboxIds] = await Promise.all([
    findHeldRuns(caller, runs),
    findRecentSandboxes(caller, sandboxes, at - renewalMs, isRunOfSandboxHeld),
  ]);
  const held = byId(found);
  const isKnown = (report: RunReport) => {
    const run = held.get(report.runId);
    return run !== undefined && isUnchanged(run, report, at, at + lease.lastsMs);
  };
  if (!runs.every(isKnown) || !sandboxes.every(({ sandboxId }) => sandboxIds.has(sandboxId))) return null;
  const agents = agentsOf(held);
  const [messages, terminals, revisions, environmentIds] = await Promise.all([
    findOpenMessages(agents.map(({ id }) => id)),
    requestedTerminals(runs),
    modelRevisions(orgIdsOf(agents)),
    liveEnvironments(caller, environments),
  ]);
  if (messages.some(({ deliveredAt }) => deliveredAt === null)) return null;
  return { held, messages, terminals, revisions, sandboxIds, environmentIds };
}

/** Renews leases, and records everything that the heartbeat reports. Independent statements are sent to the database together. */
async function record(trx: Transaction, caller: Caller, { runs, sandboxes, environments }: Heartbeat) {
  const [{ held: found, changed }, sandboxIds] = await Promise.all([
    renewLeases(trx, caller, runs, now() + lease.lastsMs),
    renewSandboxes(trx, caller, sandboxes, isRunOfSandboxHeld),
  ]);
  const held = byId(found);
  const agents = agentsOf(held);
  const [messages, terminals, revisions, environmentIds] = await Promise.all([
    exchangeMessages(trx, runs, held, agents),
    requestedTerminals(
      runs.filter(({ runId }) => held.has(runId)),
      trx,
    ),
    modelRevisions(orgIdsOf(agents), trx),
    liveEnvironments(caller, environments, trx),
    renewHarnesses(trx, caller, [...new Set(found.map(({ claimedBy }) => claimedBy))]),
    announce(trx, ...changed),
  ]);
  const measured = sandboxes
    .filter(({ sandboxId, metrics }) => sandboxIds.has(sandboxId) && metrics.length > 0)
    .map(({ sandboxId }) => sandboxId);
  return { known: { held, messages, terminals, revisions, sandboxIds, environmentIds }, measured };
}

function answerOf({ runs, sandboxes, environments }: Heartbeat, known: Known): HeartbeatAnswer {
  const { held, messages, terminals, revisions, sandboxIds, environmentIds } = known;
  const agents = agentsOf(held).map(({ id }) => id);
  const desired = (goesOn: boolean): Desired => (goesOn ? 'run' : 'stop');
  return {
    runs: runs.map(({ runId }) => {
      const run = held.get(runId);
      return {
        runId,
        desired: run?.isPausing ? 'stop' : run?.isInterrupted ? 'interrupt' : desired(run !== undefined),
        leaseUntil: run?.leaseUntil ?? null,
        modelRevision: run?.canHear ? revisions.get(run.orgId)! : null,
        messages: messages.filter((message) => message.runId === runId),
        terminals: terminals.filter((terminal) => terminal.runId === runId),
      };
    }),
    nextHeartbeatMs: agents.length > 0 ? intervals.next(agents) : lease.heartbeatMs,
    sandboxes: sandboxes.map(({ sandboxId }) => ({ sandboxId, desired: desired(sandboxIds.has(sandboxId)) })),
    environments: environments.map((environmentId) => ({
      environmentId,
      desired: desired(environmentIds.has(environmentId)),
    })),
  };
}

/** Marks the messages that agents have read, and returns the unread messages. */
async function exchangeMessages(
  trx: Transaction,
  runs: readonly RunReport[],
  held: ReadonlyMap<string, HeldRun>,
  agents: readonly HeldRun[],
): Promise<Delivered[]> {
  const acknowledgedMessages = runs.flatMap(({ runId, acknowledged = [] }) =>
    held.has(runId) ? acknowledged.map((messageId) => ({ runId, messageId })) : [],
  );
  await announce(trx, ...(await acknowledgeMessages(trx, acknowledgedMessages)));
  return deliverMessages(
    trx,
    agents.map(({ id }) => id),
  );
}

/**
 * Rejects samples from the future, which would remain the newest in every plot, and samples older than the retention, which would be
 * deleted at once.
 */
function checkTimes(sandboxes: readonly SandboxReport[], at: number): void {
  for (const [i, { metrics }] of sandboxes.entries()) {
    for (const [j, { t }] of metrics.entries()) {
      if (t <= at + maxClockAheadMs && t > at - metricRetentionMs) continue;
      throw invalid.field(`sandboxes.${i}.metrics.${j}.t`, 'must be a time of the last 28 days and not in the future');
    }
  }
}
