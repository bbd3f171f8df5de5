// A run: one mission that was started, by a schedule or by a person, and what has become of it (docs/contract.md#runs).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { NamedCondition } from '#foundation/postgres/reads.ts';
import type { Agent, AgentRole, HarnessId } from '../../projects/agents/model.ts';
import type { ModelVendor } from '../../projects/integrations/model.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Sandbox } from '../sandboxes/model.ts';

export const runKinds = ['scheduled', 'manual'] as const;
export type RunKind = (typeof runKinds)[number];
export const runStatuses = ['dispatching', 'running', 'completed', 'failed', 'skipped', 'canceled'] as const;
export type RunStatus = (typeof runStatuses)[number];
export const pullRequestStates = ['open', 'merged', 'closed'] as const;
/** The other statuses are final. */
export const openStatuses: readonly RunStatus[] = ['dispatching', 'running'];

/** An agent as a run uses it. */
export type RunAgent = Pick<
  Agent,
  'name' | 'role' | 'harness' | 'model' | 'effort' | 'userPrompt' | 'skillRepos' | 'sandboxTemplateId'
> & {
  /** Null for a built-in agent. */
  agentId: Agent['id'] | null;
};

export const choiceWays = ['asked', 'model', 'rules'] as const;

/** How the agents of a run were chosen. */
export interface AgentChoice {
  /** `asked` until the model has answered. */
  way: (typeof choiceWays)[number];
  /** Why this way: the words of the model, or what kept it from deciding. */
  reason: string;
  /** Null: it was not asked. */
  askedAt: number | null;
  model: string | null;
  /** Ids of those that the model has chosen. */
  agents: string[];
  /** Of the question; null before the answer, and when the vendor did not say. */
  tokens: { inputTokens: number; cachedInputTokens: number; cacheWriteTokens: number; outputTokens: number } | null;
  costUsd: number;
}

/** Limits of money: the budget of the mission, the credits and the daily cost cap of the organization. */
export const parkingLimits = ['budget', 'credits', 'cap'] as const;
export type ParkingLimit = (typeof parkingLimits)[number];

export class Run extends BaseModel {
  static override tableName = 'runs';
  static override noun = 'run';
  static visibleTo = withinReach;
  static override jsonAttributes = ['team', 'agentChoice'];
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'recurringId',
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
    'prompt',
    'agentId',
    'branch',
    'baseBranch',
    'headSha',
    'openedRepository',
    'commits',
    'changedFiles',
    'insertions',
    'deletions',
    'mergeBlocker',
    'prNumber',
    'prUrl',
    'prState',
    'awaitsApproval',
    'interruptedAt',
    'budgetUsd',
    'parkedBy',
    'parkedReason',
    'parkedAt',
    'agentChoice',
    'continuesStepId',
    'attempts',
    'startedAt',
    'finishedAt',
    'createdAt',
    'updatedAt',
  ];

  static {
    this.belongsTo('project', Project, 'projectId', 'runs');
    this.belongsTo('issue', Issue, 'issueId');
    Sandbox.belongsTo('run', this, 'runId', 'sandboxes');
  }

  /** In the text, of which there are few: a prepared statement has to find the partial index of that status. */
  static withStatus(status: RunStatus): NamedCondition {
    return { name: status, condition: `"status" = '${status}'` };
  }

  declare id: Id<'run'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** The recurring mission that it is a run of; null once that one is deleted, and when there was none. */
  declare recurringId: Id<'scheduledTask' | 'automation'> | null;
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
  /** The branch that its runtime has pushed, and what it is to be merged into; null before. */
  declare branch: string | null;
  declare baseBranch: string | null;
  /** The newest commit of the branch. */
  declare headSha: string | null;
  /** Whether a runtime has opened the repository of its project for it. */
  declare openedRepository: boolean;
  /** Of the branch since its base; null before, and from runtimes that do not count. */
  declare commits: number | null;
  declare changedFiles: number | null;
  declare insertions: number | null;
  declare deletions: number | null;
  /** The commit of the branch that its reviewer has approved; null: none. */
  declare approvedSha: string | null;
  /** Why its pull request is not merged by itself though its project says so; null otherwise. */
  declare mergeBlocker: string | null;
  /** Its pull request; null where the source host has none. */
  declare prNumber: number | null;
  declare prUrl: string | null;
  declare prState: (typeof pullRequestStates)[number] | null;
  /** When the source host is asked next about an open one. */
  declare prCheckAt: number | null;
  /** Who holds it: the process that creates its issue, then a runtime. */
  declare claimedBy: string | null;
  /** Nobody else claims it before this time. */
  declare leaseUntil: number | null;
  /** How often a process tried to create its issue: only the latest of them may record a failure. */
  declare attempts: number;
  /** Created at each claim by a runtime; the reports of that runtime carry it. */
  declare leaseId: Id<'lease'> | null;
  /** Of a run without a recurring mission: its task. Null otherwise. */
  declare prompt: string | null;
  /** The only agent that may work on it, also a built-in one; null: any. */
  declare agentId: string | null;
  /** Role of the agent that works on it; decides which tools of MCP servers it may call. Null before the first claim. */
  declare agentRole: AgentRole | null;
  /** Null before a runtime first claimed it. */
  declare agentChoice: AgentChoice | null;
  /** The agents that work on it, in order, as they were when it was first claimed. */
  declare team: RunAgent[] | null;
  /** The harness that its next step needs; null: that of any agent. */
  declare nextHarness: HarnessId | null;
  /** Whose model its next step needs; null: none, or that of any agent. */
  declare nextVendor: ModelVendor | null;
  /** Whether a person has to approve the plan before it continues. */
  declare awaitsApproval: boolean;
  /** Whether its plan needs an approval; null: as the organization has set it. */
  declare planApproval: boolean | null;
  /** When a person interrupted its agent; null: it works. */
  declare interruptedAt: number | null;
  /** US dollars; null: what the plan of the organization allows. */
  declare budgetUsd: number | null;
  /** Whether its runtime reserves each model call before it is made. */
  declare isMetered: boolean;
  /** Limit that its next model call does not fit into; null: it does not wait for money. */
  declare parkedBy: ParkingLimit | null;
  /** Sentence for people: amounts and limit. */
  declare parkedReason: string | null;
  declare parkedAt: number | null;
  /** The step of another run whose checkpoint it began from; null: none. */
  declare continuesStepId: Id<'runStep'> | null;
  /** Why its steps have failed, until its runtime has finished it. */
  declare failure: string | null;
  /** How often a runtime claimed it and was lost, in its present step. */
  declare claims: number;
  /** Since when it waits for a runtime; null: since it was created. */
  declare waitingSince: number | null;
  /** The last heartbeat before its lease expired; null while its runtime sends heartbeats. */
  declare silentSince: number | null;
  /** When a runtime first claimed it, and when it ended. */
  declare startedAt: number | null;
  declare finishedAt: number | null;
  declare createdAt: number;
  declare updatedAt: number;
}

/** What the delivery of a run needs of it. */
export const waitingColumns = ['id', 'orgId', 'projectId', 'recurringId', 'status', 'issueId', 'attempts'] as const;
export type WaitingRun = Pick<Run, (typeof waitingColumns)[number]>;
