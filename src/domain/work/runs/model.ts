// A run: one mission that a schedule or a person started, and its outcome (docs/contract.md#runs).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { NamedCondition } from '#foundation/postgres/reads.ts';
import type { Agent, AgentRole, HarnessId } from '../../projects/agents/model.ts';
import type { EffectPolicy } from '../../projects/effects/model.ts';
import type { InstanceTypeId } from '../../projects/instance-types/model.ts';
import type { ModelProvider } from '../../projects/integrations/model.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Sandbox } from '../sandboxes/model.ts';
import type { KeptFigures } from './kept-figures.ts';

export const runKinds = ['scheduled', 'manual'] as const;
export type RunKind = (typeof runKinds)[number];
export const runStatuses = ['dispatching', 'running', 'completed', 'failed', 'skipped', 'canceled'] as const;
export type RunStatus = (typeof runStatuses)[number];
export const runGroupings = ['status', 'project', 'agent', 'person'] as const;
export type RunGrouping = (typeof runGroupings)[number];
export const pullRequestStates = ['open', 'merged', 'closed'] as const;
/** Statuses of a run that has not ended; all other statuses are final. */
export const openStatuses: readonly RunStatus[] = ['dispatching', 'running'];

/** Decision of a person about an attempt; `open` until the person has chosen an attempt of the group, or has closed all of them. */
export const attemptStates = ['open', 'chosen', 'closed'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** An agent as it was when the run first used it. */
export type RunAgent = Pick<
  Agent,
  'name' | 'role' | 'harness' | 'model' | 'effort' | 'userPrompt' | 'skillRepos' | 'sandboxTemplateId'
> & {
  /** The id of the agent; null for a built-in one. */
  agentId: Agent['id'] | null;
  /** Number of the agent's version; null for a built-in agent. Absent in runs that are older than versions. */
  version?: Agent['version'] | null;
};

export const choiceWays = ['asked', 'model', 'rules'] as const;

/** How the agents of a run were chosen. */
export interface AgentChoice {
  /** `model` if a model has chosen the agents, `rules` if rules have chosen them; `asked` until the model has answered. */
  way: (typeof choiceWays)[number];
  /** The model's reason, or why the model did not decide. */
  reason: string;
  /** When the question was sent to the model; null when no model was asked. */
  askedAt: number | null;
  model: string | null;
  /** Ids of the agents that the model has chosen. */
  agents: string[];
  /** Tokens of the request to the model; null before the answer, and when the vendor did not report them. */
  tokens: { inputTokens: number; cachedInputTokens: number; cacheWriteTokens: number; outputTokens: number } | null;
  costUsd: number;
}

/**
 * Limits that a run can wait for. The cost limits are listed first: the budget of the mission, the credits and the daily cost cap of the
 * organization, a budget of several missions. The other limits of the mission follow.
 */
export const parkingLimits = ['budget', 'credits', 'cap', 'shared_budget', 'time', 'model_calls', 'tokens'] as const;
export type ParkingLimit = (typeof parkingLimits)[number];

export class Run extends table('runs', {
  id: column<Id<'run'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** The scheduled task or automation of the run; null for a run without one, and after it was deleted. */
  recurringId: column<Id<'scheduledTask' | 'automation'> | null>(),
  /** The time of the occurrence. Several missed occurrences become one run, with the time of the first. */
  scheduledFor: column<number>(),
  kind: column<RunKind>(),
  status: column<RunStatus>(),
  /** The tracker's id of the issue; null until the issue exists. */
  issueId: column<string | null>(),
  issueUrl: column<string | null>(),
  /** Reason why the run was skipped, was canceled or has failed; while it is dispatching, the reason why it waits. */
  reason: column<string | null>(),
  lastError: column<string | null>(),
  missionTitle: column<string | null>(),
  /** Progress of the run in percent. */
  missionProgress: column<number | null>(),
  missionActivity: column<string | null>(),
  missionCostUsd: column<number>(),
  /** Whether costs are known to be missing from the sum. */
  missionCostIncomplete: column<boolean>(),
  /**
   * The person to whom the run is charged: the person who started it manually, else the person who last changed its task or schedule. Null
   * when nobody is charged.
   */
  billingActorUserId: column<Id<'person'> | null>(),
  /** The person to whom the mission was handed over, who then gets its notices; null when it was not handed over. */
  handedToUserId: column<Id<'person'> | null>(),
  /** The task of a run without a recurring mission; null otherwise. */
  prompt: column<string | null>(),
  /** The only agent that may work on the run, possibly a built-in one; null means any. */
  agentId: column<string | null>(),
  /** The branch that the runtime has pushed, or that the run continues, and its base branch; null while the run has no branch. */
  branch: column<string | null>(),
  baseBranch: column<string | null>(),
  /** The newest commit that the branch shares with its base branch; null when it is unknown. */
  baseSha: column<string | null>(),
  /** The newest commit of the branch. */
  headSha: column<string | null>(),
  /** Whether a runtime has opened the project's repository for the run. */
  openedRepository: column<boolean>(),
  /**
   * Changes on the branch relative to its base, in this and the next three columns; null before the first report, and when the runtime does
   * not count changes.
   */
  commits: column<number | null>(),
  changedFiles: column<number | null>(),
  insertions: column<number | null>(),
  deletions: column<number | null>(),
  /** The artifact with the diff of the branch; null before the first report, and if the runtime reports no diff. */
  changeArtifactId: column<Id<'artifact'> | null>(),
  /** Reason why the pull request is not merged automatically although its project asks for it; null otherwise. */
  mergeBlocker: column<string | null>(),
  /** The pull request; null if the source host has none. */
  prNumber: column<number | null>(),
  prUrl: column<string | null>(),
  prState: column<(typeof pullRequestStates)[number] | null>(),
  /** Whether the plan waits for a person's approval. */
  awaitsApproval: column<boolean>(),
  /** When a person interrupted the agent; null means that the agent was not interrupted. */
  interruptedAt: column<number | null>(),
  /** Budget in US dollars; null means that only the plan of the organization limits the mission. */
  budgetUsd: column<number | null>(),
  /** Instance type. The sandbox template sets it at the first claim if the start of the run did not set it. Null while no type is set. */
  instanceType: column<InstanceTypeId | null>(),
  /** Limits of the run. The sandbox template sets a limit at the first claim if the start did not set it. Null means the operator's maximum. */
  maxMinutes: column<number | null>(),
  maxModelCalls: column<number | null>(),
  maxTokens: column<number | null>(),
  /** Number of started minutes in which the run has used a sandbox, and their cost, which is part of the cost of the run. */
  sandboxMinutes: column<number>(),
  sandboxCostUsd: column<number>(),
  modelCalls: column<number>(),
  /** The limit that does not allow the next model call or minute of the run; null while the run does not wait for a higher limit. */
  parkedBy: column<ParkingLimit | null>(),
  /** A text that explains to people why the run waits for a higher limit. The text names the amounts and the limit. */
  parkedReason: column<string | null>(),
  parkedAt: column<number | null>(),
  /** The sandbox template that an event's rule has set for all agents of the run; null means none. */
  sandboxTemplateId: column<string | null>(),
  /** How the agents were chosen; null before the first claim by a runtime. */
  agentChoice: column<AgentChoice | null>(),
  /** The step of another run whose checkpoint this run began from; null means none. */
  continuesStepId: column<Id<'runStep'> | null>(),
  /** The group of attempts at one task that the run belongs to; null for a run that is not an attempt. */
  attemptGroupId: column<Id<'attemptGroup'> | null>(),
  /** Position of the attempt in its group, counted from 1. */
  attemptNumber: column<number | null>(),
  attemptState: column<AttemptState | null>(),
  /** The model that the agent of an attempt uses in place of its own; null means its own. */
  agentModel: column<string | null>(),
  /** Number of attempts to create the issue: only the latest of them may record a failure. */
  attempts: column<number>(),
  /** Times of the first claim by a runtime, and of the end. */
  startedAt: column<number | null>(),
  finishedAt: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  /** Figures that remain when the details of the run are deleted; null before the deletion. */
  kept: column<KeptFigures | null>(),
}) {
  static override noun = 'run';
  static visibleTo = withinReach;
  static override jsonAttributes = ['team', 'agentChoice', 'effectPolicy', 'pullRequestDraft', 'kept'];

  static {
    this.belongsTo('project', Project, 'projectId', 'runs');
    this.belongsTo('issue', Issue, 'issueId', 'runs');
    Sandbox.belongsTo('run', this, 'runId', 'sandboxes');
  }

  /** The status is written as a literal, so that a prepared statement uses the partial index of that status. */
  static withStatus(status: RunStatus): NamedCondition {
    return { name: status, condition: `"status" = '${status}'` };
  }

  /** Policy that decides which outside effects wait for approval, copied from the rule that started the run; null means that none waits. */
  declare effectPolicy: EffectPolicy | null;
  /** Text of an existing issue at the start of the run, for its agents; null without one. */
  declare issueText: string | null;
  /** The commit of the branch that the reviewer has approved; null means none. */
  declare approvedSha: string | null;
  /** Number of the issue or pull request with the comment that links to the run; null when that comment is on the tracker's issue. */
  declare originNumber: number | null;
  /** The chat thread in which the run is reported; null without one. */
  declare chatThreadId: Id<'chatThread'> | null;
  /** The delivery of the event that started the run; null without one. */
  declare originDeliveryId: Id<'inboundDelivery'> | null;
  /** Whether the comment that answers the event shows that the run waits for a person to act. */
  declare originWaits: boolean;
  /** Files that the branch of an attempt changes, at most 1,000; null before a branch was pushed, and when the files are unknown. */
  declare changedPaths: string[] | null;
  /** The pull request that is opened once the attempt is chosen; null for none. */
  declare pullRequestDraft: { title: string; body: string } | null;
  /** The newest run that repeats this one; null when there is none. */
  declare rerunAs: Run['id'] | null;
  /** When the platform next reads the state of the pull request from the source host, while the pull request is open. */
  declare prCheckAt: number | null;
  /** When the pull request was merged or closed; null before. */
  declare prEndedAt: number | null;
  /** When a pull request that reverts this one was merged. */
  declare prRevertedAt: number | null;
  /** The process that creates the issue or, later, the runtime that has claimed the run. */
  declare claimedBy: string | null;
  /** End of the lease: no other process claims the run before this time. */
  declare leaseUntil: number | null;
  /** The id of the lease. Each claim of the run by a runtime creates a new lease. The runtime sends the id with its reports. */
  declare leaseId: Id<'lease'> | null;
  /** Role of the current agent; decides which tools of MCP servers it may call. Null before the first claim. */
  declare agentRole: AgentRole | null;
  /** The agents of the run, in order, as they were when the run was first claimed. */
  declare team: RunAgent[] | null;
  /** Harness of the next step; null when any agent may execute the step. */
  declare nextHarness: HarnessId | null;
  /** Provider of the next step's model; null when the step needs no model, or any agent may execute it. */
  declare nextVendor: ModelProvider | null;
  /** Sandbox template of the next step; null before the first step. */
  declare nextTemplateId: string | null;
  /** Whether the plan needs an approval; null means the organization's setting. */
  declare planApproval: boolean | null;
  /** Whether the runtime of the run reserves each model call before it is made. */
  declare isMetered: boolean;
  /** End of the current minute of the sandbox; null before the first. */
  declare minuteUntil: number | null;
  /**
   * The time when the lease ends because the next minute would exceed a limit. Until then, the runtime saves the work. Null means that the lease
   * continues.
   */
  declare pausesAt: number | null;
  /** Reason why the steps have failed. It is stored here while the runtime still has to finish the run. */
  declare failure: string | null;
  /** Whether the current step of a fork is answered from the recording. */
  declare isReplaying: boolean;
  /** How often a runtime has claimed the current step and was then lost. */
  declare claims: number;
  /** When the run began to wait for a runtime; null means when it was created. */
  declare waitingSince: number | null;
  /** Time of the last heartbeat before the lease expired; null while the runtime sends heartbeats. */
  declare silentSince: number | null;
}

/** Columns needed to deliver a run. */
export const waitingColumns = ['id', 'orgId', 'projectId', 'recurringId', 'status', 'issueId', 'attempts'] as const;
export type WaitingRun = Pick<Run, (typeof waitingColumns)[number]>;
