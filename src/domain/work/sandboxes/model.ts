// A sandbox: the container that an agent works in, with its sessions, logs, fragments and metrics (docs/contract.md#sandboxes). The
// runtime reports it; people read it, and may kill it.
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { type NamedCondition, type Source, snake } from '#foundation/postgres/reads.ts';
import { silenceMs } from '#limits.ts';
import type { AgentRole, HarnessId } from '../../projects/agents/model.ts';
import type { InstanceTypeId } from '../../projects/instance-types/model.ts';
import { Project } from '../../projects/projects/model.ts';

/**
 * A running sandbox ends once, with the status `destroyed`, `completed` or `failed`. The status `stale` means that a running sandbox has
 * stopped sending heartbeats.
 */
export const sandboxStatuses = ['running', 'stale', 'destroyed', 'completed', 'failed'] as const;
export type SandboxStatus = (typeof sandboxStatuses)[number];

/** Condition for a stale sandbox: running, without a heartbeat since `$1`. Every read of sandboxes passes that time as its first value. */
const isStale = `"status" = 'running' and "last_heartbeat_at" <= $1`;

export class Sandbox extends table('sandboxes', {
  id: column<Id<'sandbox'>>(),
  orgId: column<Id<'organization'>>(),
  /** The issue that the mission works on, by the tracker's id. */
  issueId: column<string | null>(),
  projectId: column<Id<'project'>>(),
  role: column<AgentRole>(),
  harness: column<HarnessId>(),
  harnessVersion: column<string | null>(),
  /** The run that the sandbox belongs to. */
  runId: column<string | null>(),
  /** The stored status, which is never `stale`. */
  status: column<SandboxStatus>(),
  terminationReason: column<string | null>(),
  instanceType: column<InstanceTypeId>(),
  createdAt: column<number>(),
  /** Deadline at which a running sandbox is ended. */
  timeoutAt: column<number | null>(),
  lastHeartbeatAt: column<number>(),
  destroyedAt: column<number | null>(),
  /** The last sample of `sandbox_metrics`, copied here so that a list reads no other table. */
  lastCpuPct: column<number | null>(),
  lastMemUsedMb: column<number | null>(),
  lastMemTotalMb: column<number | null>(),
  lastDiskUsedPct: column<number | null>(),
  lastMetricAt: column<number | null>(),
  /** When the logs and fragments were deleted after the organization's retention period; null while they exist. */
  logsDeletedAt: column<number | null>(),
}) {
  static override noun = 'sandbox';

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'sandboxes');
  }

  /** The status `stale` is computed when a sandbox is read, so that filters and records use the same time. */
  static override source(): Source {
    const columns = this.columns.map((name) =>
      name === 'status' ? `case when ${isStale} then 'stale' else "status" end as "status"` : `"${snake(name)}"`,
    );
    return { select: `select ${columns.join(', ')} from sandboxes`, conditions: [], values: [now() - silenceMs.stale] };
  }

  static withStatus(status: SandboxStatus): NamedCondition {
    if (status === 'stale') return { name: status, condition: isStale };
    const alive = status === 'running' ? ' and "last_heartbeat_at" > $1' : '';
    return { name: status, condition: `"status" = '${status}'${alive}` };
  }

  /** The lease on the run under which the runtime registered the sandbox. */
  declare leaseId: Id<'lease'> | null;
}

/**
 * The instruction that the response to a heartbeat contains for the runtime: `stop` for a sandbox whose end the platform has recorded,
 * otherwise `run`.
 */
export const desiredOf = (status: SandboxStatus): 'run' | 'stop' =>
  status === 'running' || status === 'stale' ? 'run' : 'stop';

/** One conversation of a role with its model. */
export class SandboxSession extends table('sandbox_sessions', {
  sandboxId: column<Id<'sandbox'>>(),
  role: column<AgentRole>(),
  sessionId: column<string>(),
  startedAt: column<number>(),
  /** Outcome of the session; null until it ends. */
  outcome: column<string | null>(),
  totalCostUsd: column<number>(),
}) {
  static override noun = 'session';
  static override idColumn = ['sandboxId', 'role', 'sessionId'];
}

export const logParts = ['session', 'system', 'prompt'] as const;
export type LogPart = (typeof logParts)[number];

/** Source of the text of a prompt span: a file in the repository, or the mission itself. */
export const promptScopes = ['repo-contributed', 'mission'] as const;
export type PromptScope = (typeof promptScopes)[number];

/** A chunk of a log, ordered by `seq` from 0. */
export class SandboxLogPart extends table('sandbox_log_parts', {
  sandboxId: column<Id<'sandbox'>>(),
  role: column<AgentRole>(),
  sessionId: column<string>(),
  part: column<LogPart>(),
  seq: column<number>(),
  content: column<string>(),
  /** Length of the content in UTF-8 bytes; computed by the database. */
  bytes: column<number>(),
  /** Id of the span of a prompt; null for other parts. */
  spanId: column<string | null>(),
  /** The source of the text of a prompt; null means `repo-contributed`. Always null for log parts that are not prompts. */
  promptScope: column<PromptScope | null>(),
  /** Arrival time; null for parts stored before it was recorded. */
  appendedAt: column<number | null>(),
}) {
  static override noun = 'log part';
  static override idColumn = ['sandboxId', 'role', 'sessionId', 'part', 'seq'];
}

export const fragmentKinds = ['thought', 'action', 'elicitation', 'response', 'error', 'prompt', 'plan'] as const;

/** One thought, action or message of an agent, modeled after the activities of Linear's agent interface. */
export class SandboxFragment extends table('sandbox_fragments', {
  sandboxId: column<Id<'sandbox'>>(),
  /** Position in the order of arrival, from 0. */
  seq: column<number>(),
  kind: column<(typeof fragmentKinds)[number]>(),
  at: column<number>(),
  body: column<string | null>(),
  /** Name of the tool of an action. The next three columns are the tool's input, its output, and the model's id of the call. */
  action: column<string | null>(),
  parameter: column<string | null>(),
  result: column<string | null>(),
  toolUseId: column<string | null>(),
  /** Steps of the plan; empty for fragments of other kinds. */
  items: column<{ content: string; status: string }[]>(),
  /** Whether the call failed; null while it runs, or when the runtime does not report it. */
  failed: column<boolean | null>(),
  /** The exit code of a command. */
  exitCode: column<number | null>(),
  /** Answers that a question suggests; null means it suggests none. */
  choices: column<string[] | null>(),
}) {
  static override noun = 'fragment';
  static override idColumn = ['sandboxId', 'seq'];
  static override jsonAttributes = ['items'];
}

/**
 * One sample of the resource use of a sandbox. Written in batches (`insert … on conflict do nothing`), so that a repeated report changes
 * nothing.
 */
export class SandboxMetric extends table('sandbox_metrics', {
  sandboxId: column<Id<'sandbox'>>(),
  at: column<number>(),
  cpuPct: column<number>(),
  memUsedMb: column<number>(),
  memTotalMb: column<number>(),
  diskUsedPct: column<number>(),
}) {
  static override noun = 'metric';
  static override idColumn = ['sandboxId', 'at'];
}
