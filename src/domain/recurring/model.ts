// A mission that returns, and its runs (specification, Scheduled task and automation). Both kinds have one shape and behave
// alike; a kind says only what they are called and where they lie.
import { withinReach } from '#access/reach.ts';
import { BaseModel } from '#foundation/base-model.ts';
import type { Id } from '#foundation/ids.ts';
import { Issue } from '../issues/model.ts';
import { Project } from '../projects/model.ts';
import type { Schedule } from './schedule.ts';

export const triggerKinds = ['schedule'] as const;
export interface Trigger {
  kind: (typeof triggerKinds)[number];
  schedule: Schedule;
}

export class Recurring extends BaseModel {
  static visibleTo = withinReach;
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'name',
    'prompt',
    'templateKey',
    'triggers',
    'labels',
    'skipIfPreviousOpen',
    'enabled',
    'nextRunAt',
    'lastRunAt',
    'createdByUserId',
    'updatedByUserId',
    'createdAt',
    'updatedAt',
  ];
  static override jsonAttributes = ['triggers'];

  declare id: Id<'scheduledTask' | 'automation'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare name: string;
  /** What the agent is told. */
  declare prompt: string;
  /** The template it was begun from. */
  declare templateKey: string | null;
  declare triggers: Trigger[];
  /** Put on each issue. */
  declare labels: string[];
  /** Whether an occurrence is passed over while an earlier run is still open. */
  declare skipIfPreviousOpen: boolean;
  declare enabled: boolean;
  /** Null while it is disabled. Moves only when it is due, or when the triggers or `enabled` change. */
  declare nextRunAt: number | null;
  /** When a mission last began; what was skipped does not count. */
  declare lastRunAt: number | null;
  declare createdByUserId: Id<'person'>;
  /** Who last set what runs, where or when; null while that is the creator. Scheduled runs are billed to them. */
  declare updatedByUserId: Id<'person'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}

export const runKinds = ['scheduled', 'manual'] as const;
export type RunKind = (typeof runKinds)[number];
export const runStatuses = ['dispatching', 'running', 'completed', 'failed', 'skipped', 'canceled'] as const;
export type RunStatus = (typeof runStatuses)[number];
/** The others are final. */
export const openStatuses: readonly RunStatus[] = ['dispatching', 'running'];

export class Run extends BaseModel {
  static override tableName = 'runs';
  static override noun = 'run';
  static visibleTo = withinReach;
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'scheduledTaskId',
    'automationId',
    'scheduledFor',
    'kind',
    'status',
    'issueId',
    'issueUrl',
    'reason',
    'lastError',
    'missionTitle',
    'missionProgress',
    'missionActivity',
    'missionCostUsd',
    'missionCostIncomplete',
    'billingActorUserId',
    'attempts',
    'startedAt',
    'finishedAt',
    'createdAt',
    'updatedAt',
  ];

  static {
    this.belongsTo('project', Project, 'projectId', 'runs');
    this.belongsTo('issue', Issue, 'issueId');
  }

  declare id: Id<'run'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** One of the two; neither once that one is deleted. */
  declare scheduledTaskId: Id<'scheduledTask'> | null;
  declare automationId: Id<'automation'> | null;
  /** The occurrence. When several were missed, the first of them: they are run as one. */
  declare scheduledFor: number;
  declare kind: RunKind;
  declare status: RunStatus;
  /** As the project's tracker names it; null until it is there. */
  declare issueId: string | null;
  declare issueUrl: string | null;
  /** Why it was skipped, was canceled or has failed; while it is dispatching, what it waits for. */
  declare reason: string | null;
  declare lastError: string | null;
  declare missionTitle: string | null;
  /** Percent. */
  declare missionProgress: number | null;
  declare missionActivity: string | null;
  declare missionCostUsd: number;
  /** Whether costs are known to be missing from the sum. */
  declare missionCostIncomplete: boolean;
  /** Who pressed "run now", else who last set what runs. */
  declare billingActorUserId: Id<'person'> | null;
  /** Who works on it just now: a process that brings it to the tracker, then a runtime. */
  declare claimedBy: string | null;
  /** Until then nobody else takes it. */
  declare leaseUntil: number | null;
  /** How often it was taken to the tracker: whoever took it last is the only one that may say it failed. */
  declare attempts: number;
  /** Made anew whenever a runtime takes it: what the reports of that runtime carry. */
  declare leaseId: Id<'lease'> | null;
  /** How often a runtime took it and was lost with it. */
  declare claims: number;
  /** Since when it waits; null: since it was created. */
  declare waitingSince: number | null;
  /** The last heartbeat before its lease ran out; null while its runtime is heard of. */
  declare silentSince: number | null;
  /** When a runtime first took it, and when it came to its end. */
  declare startedAt: number | null;
  declare finishedAt: number | null;
  declare createdAt: number;
  declare updatedAt: number;
}

export interface Kind {
  /** As a sentence says it. */
  noun: string;
  idNoun: 'scheduledTask' | 'automation';
  record: typeof Recurring;
  /** Which column of a run names it. */
  parent: 'scheduledTaskId' | 'automationId';
}

/** What the run is a run of; null once that is deleted. */
export const parentOf = (run: Run): Recurring['id'] | null => run.scheduledTaskId ?? run.automationId;
