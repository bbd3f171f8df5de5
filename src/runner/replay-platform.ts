// The platform of a replay: assigns the recorded steps, one after the other, and keeps nothing of what is reported.
import type { Claimed, Step } from './contract.ts';
import {
  appendFragments,
  appendLog,
  finishStep,
  heartbeat,
  openRepository,
  registerArtifact,
  registerSandbox,
} from './generated/operations.ts';
import { type Connection, RequestRejected } from './protocol/platform.ts';
import type { RecordedPart, RecordedRun } from './protocol/recording-lines.ts';
import { directly } from './protocol/via.ts';

/** No program listens at this URL: the gateway answers all calls from the recording. */
const nowhere = 'http://127.0.0.1:9';

type Reported = Record<string, unknown> & {
  seq: number;
  fragments: unknown[];
  sessionId?: string;
  runs?: { runId: string }[];
};

/**
 * Opens a stand-in for the platform, from which a replay gets the recorded steps.
 * @param repository URL of a repository at the recorded commit; null without one.
 */
export function openReplayPlatform({ steps }: RecordedRun, repository: string | null): Connection {
  let at = 0;
  /** The id of the newest session of each role in this replay. The recording contains other ids. */
  const sessions = new Map<string, string>();
  const { start } = steps[0]!.step;

  function answerTo(operation: unknown, input: Reported): object {
    if (operation === registerSandbox) return { sandboxId: 'sandbox' };
    if (operation === registerArtifact) return { artifactId: 'artifact' };
    if (operation === appendLog) return { nextSeq: input.seq + 1 };
    if (operation === appendFragments) return { nextSeq: input.seq + input.fragments.length };
    if (operation === heartbeat) {
      const runs = (input.runs ?? []).map(() => ({ desired: 'run', messages: [], modelRevision: null, terminals: [] }));
      return { runs, nextHeartbeatMs: 10_000, sandboxes: [], environments: [] };
    }
    if (operation === openRepository) {
      if (!start || !repository || 'skillRepo' in input)
        throw new RequestRejected('conflict', 'A replay has no such repository.');
      return { ...start, url: repository, username: null, password: null, pushWaits: true };
    }
    if (operation === finishStep) {
      const { role } = steps[at]!.step.order.agent;
      if (input.sessionId) sessions.set(role, input.sessionId);
      const next = input.status === 'completed' ? steps[++at] : undefined;
      return { outcome: next ? 'next' : 'done', failure: null, step: next ? orderOf(next, sessions) : null };
    }
    return { ok: true, prNumber: null };
  }

  return {
    url: nowhere,
    via: directly,
    authorization: '',
    isAway: () => false,
    mutate: async (operation: unknown, input: unknown) => answerTo(operation, input as Reported),
    upload: async () => 'content',
    download: async () => false,
    mcpServers: async () =>
      steps[at]!.step.mcp.filter((name) => name !== 'people').map((serverName) => ({
        serverName,
        url: nowhere,
        alwaysAsk: [],
      })),
    mcpCommands: async () => [],
    models: async () => ({ revision: '', connectors: [] }),
    demand: async () => ({ modelVendors: [], harnesses: [] }),
    orders: async () => ({ isDraining: false, release: '' }),
  } as Connection;
}

/**
 * Returns the order for the step that the replay executes. If the recording is that of a fork, the step may itself have been a replay;
 * the order then says that it is an ordinary step.
 */
function orderOf({ step: { order } }: RecordedPart, sessions: ReadonlyMap<string, string>): Step {
  const resumeSessionId = order.resumeSessionId && (sessions.get(order.agent.role) ?? null);
  return { ...order, resumeSessionId, isRecorded: false, replay: null };
}

/** The run in the form of the response to its claim. */
export function claimedRun({ steps }: RecordedRun): Claimed {
  const { run } = steps[0]!.step;
  const time = 24 * 60 * 60_000;
  return {
    ...run,
    leaseId: 'replay',
    missionTitle: null,
    stepTimeoutMs: time,
    answerTimeoutMs: time,
    maxTurns: 1_000,
    step: orderOf(steps[0]!, new Map()),
  };
}
