// Heartbeats (docs/decisions/0031-runtimes-report-over-graphql.md): a runtime reports its runs, sandboxes and environments, and the
// response names those that have to stop. A heartbeat is written completely or not at all.
import type { Caller } from '#access/principal.ts';
import { minutes, now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { lease, metricRetentionMs } from '#limits.ts';
import { renewHarnesses } from '../../projects/agents/runtime-harnesses.ts';
import { liveEnvironments } from '../../work/environments/operations.ts';
import { steeringHeartbeatMs } from '../../work/runs/bounds.ts';
import { type HeldRun, isRunHeld, type RunReport, renewLeases } from '../../work/runs/claim.ts';
import { acknowledgeMessages, type Delivered, deliverMessages } from '../../work/runs/messages.ts';
import { heldStates } from '../../work/runs/states.ts';
import { recordHeartbeat, type SandboxReport } from '../../work/sandboxes/heartbeat.ts';
import { type RequestedTerminal, requestedTerminals } from '../../work/terminals/state.ts';
import { beginDueMinutes } from './minutes.ts';
import { modelRevisions } from './models.ts';

/** Maximum time by which a runtime's clock may be ahead of the service's clock. */
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

export async function heartbeat(
  caller: Caller,
  { runs, sandboxes, environments }: Heartbeat,
): Promise<HeartbeatAnswer> {
  const at = now();
  checkTimes(sandboxes, at);
  await beginDueMinutes(caller, runs);
  return transaction(async (trx) => {
    const leaseUntil = at + lease.lastsMs;
    const held = new Map((await renewLeases(trx, caller, runs, leaseUntil)).map((run) => [run.id, run]));
    await renewHarnesses(trx, caller, [...new Set([...held.values()].map(({ claimedBy }) => claimedBy))]);
    const agents = [...held.values()].filter(({ canHear }) => canHear);
    const messages = await exchangeMessages(trx, runs, held, agents);
    const requested = await requestedTerminals(
      trx,
      runs.filter(({ runId }) => held.has(runId)),
    );
    const revisions = await modelRevisions(trx, [...new Set(agents.map(({ orgId }) => orgId))]);
    const sandboxIds = await recordHeartbeat(trx, caller, sandboxes, isRunOfSandboxHeld);
    const environmentIds = await liveEnvironments(trx, caller, environments);
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
          terminals: requested.filter((terminal) => terminal.runId === runId),
        };
      }),
      nextHeartbeatMs: agents.length > 0 ? steeringHeartbeatMs : lease.heartbeatMs,
      sandboxes: sandboxes.map(({ sandboxId }) => ({ sandboxId, desired: desired(sandboxIds.has(sandboxId)) })),
      environments: environments.map((environmentId) => ({
        environmentId,
        desired: desired(environmentIds.has(environmentId)),
      })),
    };
  });
}

/** Records the messages that agents have read, and returns the unread ones. */
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
 * Rejects samples from the future, which would stay the newest in all plots, and samples older than the retention, which would be deleted
 * at once.
 */
function checkTimes(sandboxes: readonly SandboxReport[], at: number): void {
  for (const [i, { metrics }] of sandboxes.entries()) {
    for (const [j, { t }] of metrics.entries()) {
      if (t <= at + maxClockAheadMs && t > at - metricRetentionMs) continue;
      throw invalid.field(`sandboxes.${i}.metrics.${j}.t`, 'must be a time of the last 28 days and not in the future');
    }
  }
}
