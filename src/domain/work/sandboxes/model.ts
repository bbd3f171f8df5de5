// A sandbox: the container that an agent works in, with its sessions, logs, fragments and metrics (docs/contract.md#sandboxes). The
// runtime reports it; people read it, and may kill it.
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { type NamedCondition, type Source, snake } from '#foundation/postgres/reads.ts';
import { silenceMs } from '#limits.ts';
import type { AgentRole, HarnessId, InstanceTypeId } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';

/** A running sandbox ends once, in one of the last three statuses. `stale` is a running sandbox that has stopped sending heartbeats. */
export const sandboxStatuses = ['running', 'stale', 'destroyed', 'completed', 'failed'] as const;
export type SandboxStatus = (typeof sandboxStatuses)[number];

/** Condition for a running sandbox without a heartbeat since `$1`, the first value of every read of sandboxes. */
const isStale = `"status" = 'running' and "last_heartbeat_at" <= $1`;

export class Sandbox extends BaseModel {
  static override tableName = 'sandboxes';
  static override noun = 'sandbox';
  static override columns = [
    'id',
    'orgId',
    'issueId',
    'projectId',
    'role',
    'harness',
    'harnessVersion',
    'runId',
    'status',
    'terminationReason',
    'instanceType',
    'createdAt',
    'timeoutAt',
    'lastHeartbeatAt',
    'destroyedAt',
    'lastCpuPct',
    'lastMemUsedMb',
    'lastMemTotalMb',
    'lastDiskUsedPct',
    'lastMetricAt',
  ];

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'sandboxes');
  }

  /** `stale` is derived: the filter and the record compare with the same time. */
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

  declare id: Id<'sandbox'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** The issue that the mission works on, by the tracker's id. */
  declare issueId: string | null;
  /** The run that the sandbox belongs to. */
  declare runId: string | null;
  declare role: AgentRole;
  declare harness: HarnessId;
  declare harnessVersion: string | null;
  /** `stale` is never stored. */
  declare status: SandboxStatus;
  declare terminationReason: string | null;
  declare instanceType: InstanceTypeId;
  declare createdAt: number;
  /** The latest time at which the sandbox is ended. */
  declare timeoutAt: number | null;
  declare lastHeartbeatAt: number;
  declare destroyedAt: number | null;
  /** The last sample of `sandbox_metrics`, copied here so that a list reads no other table. */
  declare lastCpuPct: number | null;
  declare lastMemUsedMb: number | null;
  declare lastMemTotalMb: number | null;
  declare lastDiskUsedPct: number | null;
  declare lastMetricAt: number | null;
  /** The lease on the run under which the runtime registered it. */
  declare leaseId: Id<'lease'> | null;
}

/** The answer to each heartbeat of the runtime: a sandbox that has ended here must stop there. */
export const desiredOf = (status: SandboxStatus): 'run' | 'stop' =>
  status === 'running' || status === 'stale' ? 'run' : 'stop';

/** One conversation of a role with its model. */
export class SandboxSession extends BaseModel {
  static override tableName = 'sandbox_sessions';
  static override noun = 'session';
  static override idColumn = ['sandboxId', 'role', 'sessionId'];
  static override columns = ['sandboxId', 'role', 'sessionId', 'startedAt', 'outcome', 'totalCostUsd'];

  declare sandboxId: Id<'sandbox'>;
  declare role: AgentRole;
  declare sessionId: string;
  declare startedAt: number;
  /** Null until it ends. */
  declare outcome: string | null;
  declare totalCostUsd: number;
}

export const logParts = ['session', 'system', 'prompt'] as const;
export type LogPart = (typeof logParts)[number];

/** Source of the text of a prompt span: a file in the repository, or the mission itself. */
export const promptScopes = ['repo-contributed', 'mission'] as const;
export type PromptScope = (typeof promptScopes)[number];

/** A chunk of a log, ordered by `seq` from 0. */
export class SandboxLogPart extends BaseModel {
  static override tableName = 'sandbox_log_parts';
  static override noun = 'log part';
  static override idColumn = ['sandboxId', 'role', 'sessionId', 'part', 'seq'];
  static override columns = [
    'sandboxId',
    'role',
    'sessionId',
    'part',
    'seq',
    'content',
    'bytes',
    'spanId',
    'promptScope',
    'appendedAt',
  ];

  declare sandboxId: Id<'sandbox'>;
  declare role: AgentRole;
  declare sessionId: string;
  declare part: LogPart;
  declare seq: number;
  declare content: string;
  /** Length of the content in UTF-8 bytes; computed by the database. */
  declare bytes: number;
  /** The span of the prompt; null in the other parts. */
  declare spanId: string | null;
  /** Null: `repo-contributed`, or a part other than the prompt. */
  declare promptScope: PromptScope | null;
  /** Arrival time; null for parts stored before it was recorded. */
  declare appendedAt: number | null;
}

export const fragmentKinds = ['thought', 'action', 'elicitation', 'response', 'error', 'prompt', 'plan'] as const;

/** One thought, action or message of an agent (the activities of Linear's agent interface). */
export class SandboxFragment extends BaseModel {
  static override tableName = 'sandbox_fragments';
  static override noun = 'fragment';
  static override idColumn = ['sandboxId', 'seq'];
  static override jsonAttributes = ['items'];
  static override columns = [
    'sandboxId',
    'seq',
    'kind',
    'at',
    'body',
    'action',
    'parameter',
    'result',
    'toolUseId',
    'items',
    'failed',
    'exitCode',
    'choices',
  ];

  declare sandboxId: Id<'sandbox'>;
  /** Position in the order of arrival, from 0. */
  declare seq: number;
  declare kind: (typeof fragmentKinds)[number];
  declare at: number;
  declare body: string | null;
  /** For an action: the tool, its input, its output, and the model's id of the call. */
  declare action: string | null;
  declare parameter: string | null;
  declare result: string | null;
  declare toolUseId: string | null;
  /** Whether the call failed; null while it runs, or when the runtime does not report it. */
  declare failed: boolean | null;
  /** For a command. */
  declare exitCode: number | null;
  /** Answers that a question suggests; null: it suggests none. */
  declare choices: string[] | null;
  /** The steps of a plan. */
  declare items: { content: string; status: string }[];
}

/**
 * One sample of a sandbox's use of the machine. Written in batches (`insert … on conflict do nothing`), so that a repeated report changes
 * nothing.
 */
export class SandboxMetric extends BaseModel {
  static override tableName = 'sandbox_metrics';
  static override noun = 'metric';
  static override idColumn = ['sandboxId', 'at'];
  static override columns = ['sandboxId', 'at', 'cpuPct', 'memUsedMb', 'memTotalMb', 'diskUsedPct'];

  declare sandboxId: Id<'sandbox'>;
  declare at: number;
  declare cpuPct: number;
  declare memUsedMb: number;
  declare memTotalMb: number;
  declare diskUsedPct: number;
}
