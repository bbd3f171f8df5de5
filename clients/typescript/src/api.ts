// The operations of the API and their records, generated from the OpenAPI document and the GraphQL schema by
// `npm run client:types`. Not edited.

/** An agent for missions: a role, a harness and a model under one name. */
export interface Agent {
  /** The id, which starts with `agn_`. */
  id: string;
  /** The organization of the agent; for a built-in agent, the caller’s. */
  orgId: string;
  /** The name, unique among the organization’s own agents. */
  name: string;
  /** The role of the agent in a mission. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the agent’s model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** One of the models of the harness, as the catalog lists them. */
  model: string;
  /** Reasoning effort of the model; null means the harness decides. */
  effort: 'low' | 'medium' | 'high' | null;
  /** Id of the agent’s sandbox template; `standard` means that the project’s template is used. */
  sandboxTemplateId: string;
  /** Instructions in addition to the issue. */
  userPrompt: string | null;
  /** Repositories with skills that the agent may use. */
  skillRepos: string[];
  /** Whether the agent is part of the service: every organization has it, and nobody can change or delete it. */
  isBuiltin: boolean;
  /** When the agent was created; for a built-in agent, a fixed time. */
  createdAt: number;
  /** When the agent was last changed. */
  updatedAt: number;
}
/** The options for agents: roles, harnesses, models, templates and sizes. */
export interface AgentCatalog {
  /** All roles. */
  roles: CatalogRole[];
  /** All harnesses. */
  harnesses: CatalogHarness[];
  /** The built-in agents. */
  builtinAgents: CatalogAgent[];
  builtinSandboxTemplate: CatalogSandboxTemplate;
  /** All sandbox sizes, smallest first. */
  instanceTypes: CatalogInstanceType[];
}
/** A role that an agent can have. */
export interface CatalogRole {
  /** Value for `role` of an agent. */
  key: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** Name for people; programs use the id. */
  name: string;
  /** Label for display. */
  roleLabel: string;
  /** The task of an agent in this role, in one sentence. */
  blurb: string;
}
/** A program that drives a model, and the models it runs. */
export interface CatalogHarness {
  /** Value for `harness` of an agent. */
  id: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** Name for people; programs use the id. */
  label: string;
  /** Whether missions may be assigned to agents with this harness. */
  executable: boolean;
  /** The models that an agent with this harness can use. */
  models: CatalogModel[];
}
/** A language model. */
export interface CatalogModel {
  /** Value for `model` of an agent. */
  id: string;
  /** Name for people; programs use the id. */
  label: string;
}
/** An agent that exists in every organization. */
export interface CatalogAgent {
  /** The key of the agent. The id of the agent is `agn_builtin_` followed by this key. */
  key: string;
  /** Name for people; programs use the id. */
  name: string;
  /** The role of the agent in a mission. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the agent’s model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** The id of the agent’s model. */
  model: string;
  /** Instructions that the agent gets in addition to the issue. */
  userPrompt: string;
  /** Repositories with skills, each `<owner>/<repo>`. */
  skillRepos: string[];
  /** The key of the agent’s sandbox template. */
  sandboxTemplateKey: string;
}
/** A container image for sandboxes. */
export interface CatalogSandboxTemplate {
  /** A value for `sandbox.templateId` of a new agent. */
  key: string;
  /** Name for people; programs use the id. */
  name: string;
  /** The Dockerfile of the image. */
  dockerfile: string;
}
/** A sandbox size. */
export interface CatalogInstanceType {
  /** Value for `instanceType` of a sandbox. */
  id: 'lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4';
  /** Name for people; programs use the id. */
  label: string;
  /** Virtual CPU cores. */
  vcpu: number;
  /** Memory in MiB. */
  memory: number;
  /** Disk space in GB. */
  disk: number;
}
/** One page of a list of Agent records. */
export interface AgentPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Agent[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `agent`. */
export interface AgentParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
}
/** The settings of an agent after one of its changes. A version never changes. */
export interface AgentVersion {
  /** The id, which starts with `agv_`. */
  id: string;
  /** The agent. */
  agentId: string;
  /** The version number; the first version of an agent has the number 1. */
  number: number;
  /** The name of the agent. */
  name: string;
  /** The role of the agent in a mission. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the agent’s model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** One of the models of the harness. */
  model: string;
  /** Reasoning effort of the model; null means the harness decides. */
  effort: 'low' | 'medium' | 'high' | null;
  /** Id of the agent’s sandbox template; `standard`: the project’s template. */
  sandboxTemplateId: string;
  /** Instructions in addition to the issue. */
  userPrompt: string | null;
  /** Repositories with skills that the agent may use. */
  skillRepos: string[];
  /** Reason why the agent was changed; null when none was given. */
  note: string | null;
  /** The person who changed the agent; null for a program, and once the account is deleted. */
  authorUserId: string | null;
  /** The name of the person who changed the agent, as it was then; null for a program. */
  author: string | null;
  /** When the agent was changed. */
  createdAt: number;
}
/** The figures of two versions of an agent. For shares such as the share of completed missions, `differences` says whether the versions differ by more than chance. */
export interface AgentVersionComparison {
  /** The figures of the first version; null without missions. */
  first: QualityFigures | null;
  /** The figures of the second version; null without missions. */
  second: QualityFigures | null;
  /** Each entry compares one share of the two versions, such as the share of completed missions among all missions. Only shares that are known for both versions are listed. */
  differences: ShareDifference[];
}
/** Figures of a group of missions. The runs on one branch are one mission, and a run without a branch is a mission of its own. The agent of a mission is the builder of its first run. Only the newest 50,000 ended runs of the period count. */
export interface QualityFigures {
  /** The project; null unless grouped by project. */
  projectId: string | null;
  /** The agent; null for a built-in agent, and when the figures are not grouped by agent or version. */
  agentId: string | null;
  /** The name of the agent when the missions began; null unless grouped by agent or version. */
  agentName: string | null;
  /** The number of the version; null for a built-in agent, and when the figures are not grouped by version. */
  agentVersion: number | null;
  /** Number of ended missions. */
  missions: number;
  /** Number of missions whose latest run was completed. */
  completed: number;
  /** Number of missions with a pull request. */
  pullRequests: number;
  /** Number of missions with a merged pull request. */
  merged: number;
  /** Number of missions whose merged pull request was reverted by another one within 14 days. */
  reverted: number;
  /** Number of missions that ended while they waited for a higher budget or limit. */
  endedAtLimit: number;
  /** Share of the missions that were completed, 0 to 1. */
  completedShare: number | null;
  /** Share of the pull requests that were merged, 0 to 1; null without pull requests. */
  mergedShare: number | null;
  /** Share of the merged pull requests that were reverted, 0 to 1; null when none was merged. */
  revertedShare: number | null;
  /** Median of the milliseconds from the start of a mission to its merge; null when none was merged. */
  msToMerge: number | null;
  /** Median of the milliseconds until a runtime began a mission; null when none began. */
  msToStart: number | null;
  /** Mean number of runs on the branch of a mission. */
  runsPerMission: number;
  /** Mean number of messages and answers that people sent to a mission. */
  messagesPerMission: number;
  /** Cost of the missions in US dollars. */
  costUsd: number;
  /** Cost of all missions of the group in US dollars, divided by the number of merged missions; null when none was merged. */
  costPerMergedUsd: number | null;
}
/** How much one share, such as that of completed missions, differs between two versions of an agent. */
export interface ShareDifference {
  /** The share. */
  share: 'completed' | 'merged' | 'reverted' | 'endedAtLimit';
  /** The share of the second version minus that of the first one, -1 to 1. */
  difference: number;
  /** Lower bound of the 95 % confidence interval of the difference. */
  low: number;
  /** Upper bound of the 95 % confidence interval of the difference. */
  high: number;
  /** Whether the interval excludes 0, so that the versions differ by more than chance. */
  isMoreThanChance: boolean;
}
/** One page of a list of AgentVersion records. */
export interface AgentVersionPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: AgentVersion[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `agentVersions`. */
export interface AgentVersionsParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `agents`. */
export interface AgentsParameters {
  /** Only agents of this role. */
  role?: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `allowHost`. */
export interface AllowHostParameters {
  /** The id of the run. */
  runId: string;
}
/** A blocked connection of a run. */
export interface AllowHostRequest {
  /** A host that was blocked in the run. */
  host: string;
  /** The requested port. If it is 80 or 443, both of these ports are allowed. */
  port: number;
  /** The phase in which the host was blocked. */
  phase: 'setup' | 'agent';
}
/** The networks from which an organization accepts its credentials. Requests from other networks are refused with the code `address_not_allowed`. */
export interface AllowedNetworks {
  /** The networks in CIDR notation; empty when requests may come from any address. */
  networks: string[];
  /** The address of the present request, as the service sees it; null when it is unknown. */
  address: string | null;
}
/** The parameters of `answerElicitation`. */
export interface AnswerElicitationParameters {
  /** The id of the run. */
  runId: string;
}
/** The body of `POST /runs/{runId}/answer`. */
export interface AnswerElicitationRequest {
  /** The answer: 1 to 4000 characters. For a decision about a tool call, this is the reason that the agent gets; it may be empty. */
  text: string;
  /** Whether the tool may be called with these arguments; required for a question about a tool call, not allowed for other questions. */
  approve?: boolean | null;
  /** The sandbox whose agent asked; required when several questions wait. */
  sandboxId?: string | null;
  /** The position of the question among the fragments of the sandbox; required when several questions wait. Without the position, the answer is for the question that waits now, which may differ from the one that you have read. */
  seq?: number | null;
}
/** The parameters of `answerHostThread`. */
export interface AnswerHostThreadParameters {
  /** The run. */
  runId: string;
  /** The host’s id of the thread, as `hostThreads` of the run returns it. */
  key: string;
  /** The reply in Markdown, 1 to 4,000 characters. */
  body: string;
}
/** The parameters of `approveInboundDelivery`. */
export interface ApproveInboundDeliveryParameters {
  /** The id of the hook. */
  hookId: string;
  /** The id of the delivery. */
  deliveryId: string;
}
/** The parameters of `approveOutsideEffects`. */
export interface ApproveOutsideEffectsParameters {
  /** The run. */
  runId: string;
  /**
   * Ids of the effects; absent means all that wait.
   *
   * @minItems 1
   * @maxItems 200
   */
  effectIds?: string;
  /**
   * Digests of the effects as you saw them. If one has changed since, the response is a 409. Absent means no check.
   *
   * @minItems 1
   * @maxItems 200
   */
  digests?: string;
}
/** The parameters of `approvePlan`. */
export interface ApprovePlanParameters {
  /** The id of the run. */
  runId: string;
}
/** A file that an agent has submitted as evidence of its work. */
export interface Artifact {
  /** The id, which starts with `art_`. */
  id: string;
  /** The id of the project; starts with `prj_`. */
  projectId: string;
  /** The tracker’s id of the issue that the artifact was created for. */
  issueId: string | null;
  /** The session in the sandbox; null when unknown. */
  sessionId: string | null;
  /** The sandbox that the artifact was created in; null when unknown. */
  sandboxId: string | null;
  /** The role of the agent that submitted the artifact. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** Kind of content. */
  kind: 'screenshot' | 'video' | 'trace' | 'log' | 'report' | 'file';
  /** Media type, as reported by the runtime. */
  contentType: string;
  /** Size of the content in bytes. */
  sizeBytes: number;
  /** Description for display; null without one. */
  caption: string | null;
  /** The acceptance criterion that the artifact is evidence for, as the runtime reported it; null when the runtime reported none. */
  criterion: string | null;
  /** Whether the acceptance criterion is met, as the runtime reported it; null when it reported nothing about this. */
  criterionPassed: boolean | null;
  /** Time of the registration. */
  createdAt: string;
  /** Expiry: from this time on the artifact no longer exists. The retention of the organization may delete it earlier. */
  expiresAt: string;
  /** URL for the download of the content: valid for about an hour, without a credential. */
  url: string;
  /** URL of a viewer for a trace: the one that the runtime reported, else that of the installation (`TRACE_VIEWER_URL`); null without one. */
  traceViewerUrl: string | null;
}
/** One page of a list of Artifact records. */
export interface ArtifactPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Artifact[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `artifact`. */
export interface ArtifactParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  artifactId: string;
}
/** The parameters of `artifacts`. */
export interface ArtifactsParameters {
  /** Only records with this value in the field of the same name. */
  issueId?: string;
  /** Only records with this value in the field of the same name. */
  projectId?: string;
  /** Only records with this value in the field of the same name. */
  sandboxId?: string;
  /** Only artifacts of this kind. */
  kind?: 'screenshot' | 'video' | 'trace' | 'log' | 'report' | 'file';
  /** Order of the list, newest first when absent. A cursor is valid for one order only. */
  order?: 'oldest' | 'newest';
  /** Rows per page: 1 to 2000. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `assignIssue`. */
export interface AssignIssueParameters {
  /** The id of the issue. */
  issueId: string;
  /** A member or an agent. Assigning an agent starts a mission at once; the mission is billed to you. Null or absent means nobody. If the issue was assigned to an agent until now, the mission of that agent is canceled. */
  assigneeId?: string;
}
/** One of several attempts at a task: a run, with the values that a comparison of the attempts shows. */
export interface Attempt {
  /** Position among the attempts, from 1. */
  number: number;
  /** The decision about the attempt. */
  state: 'open' | 'chosen' | 'closed';
  run: Run;
  /** A sentence which says that the attempt cannot be chosen because it ended without a change. Null for every other attempt. */
  choiceBlocker: string | null;
  /** Name of the agent that builds the change; null before a runtime has claimed the run. */
  agentName: string | null;
  /** The program that drives the model of the building agent; null before a runtime has claimed the run. */
  harness: string | null;
  /** The model of the building agent. Null until a runtime claims the run, unless the attempt was started with a certain model. */
  model: string | null;
  /** Verdict of the latest review by an agent; null without one. */
  review: 'approve' | 'request_changes' | null;
  /** Whether the latest test by a QA agent has passed; null without one. */
  isTestPassed: boolean | null;
  /** Number of acceptance criteria for which the attempt has artifacts as evidence. */
  criteria: number;
  /** Number of acceptance criteria that are met according to artifacts of the attempt. */
  criteriaPassed: number;
  /** Files that the branch changes, sorted, at most 1000; null before a branch was pushed, and when they are unknown. */
  changedPaths: string[] | null;
}
/** One mission: a run of a scheduled task or an automation, or a run that was started without either. */
export interface Run {
  /** The id, which is unique and never changes. */
  id: string;
  /** The organization of the run. */
  orgId: string;
  /** The scheduled task of the run; null for a run without one, and after the scheduled task was deleted. */
  scheduledTaskId: string | null;
  /** The automation of the run; null for a run without one, and after the automation was deleted. */
  automationId: string | null;
  /** The project in whose repository the run works. */
  projectId: string;
  /** When the run was due; for several missed occurrences that became one run, the time of the first. */
  scheduledFor: number;
  /** The origin of the run: the schedule of its mission, or a person, a program or an event. */
  kind: 'scheduled' | 'manual';
  /** Status of the run; `reason` explains it. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The issue’s id in the project’s tracker; null until the tracker has created it. */
  issueId: string | null;
  /** The page of the issue; null until the tracker has created it. */
  issueUrl: string | null;
  /** Reason why the run was skipped, was canceled or has failed; while it is dispatching, the reason for its wait. */
  reason: string | null;
  /** The last error of the tracker or of a runtime; null when there was none. */
  lastError: string | null;
  /** When the record of the run was written. */
  createdAt: number;
  /** When the run last changed. */
  updatedAt: number;
  /** Progress in percent, as the runtime reports it; null while no runtime works on it. Scripts report it; for agents it is 0 until the run is completed. */
  missionProgress: number | null;
  /** Current activity, as the runtime reports it. */
  missionActivity: string | null;
  /** Cost of the run in US dollars, the sum of all reported costs. */
  missionCostUsd: number;
  /** The name of the scheduled task or automation when the run began; without one, the first line of the prompt. */
  missionTitle: string | null;
  /** The task that the run was started with; null for a run of a scheduled task or an automation. */
  prompt: string | null;
  /** The only agent that may work on the run; null means any agent that a connected runtime offers. */
  agentId: string | null;
  /** Whether the plan waits for a person to approve it. */
  awaitsApproval: boolean;
  /** When a person interrupted the agent of the run; null while no interruption is in effect. */
  interruptedAt: number | null;
  /** Budget of the mission in US dollars. If the next model call or minute would exceed the budget, the mission waits until a person raises the budget. Null means that only the plan and the credits of the organization limit the mission. */
  budgetUsd: number | null;
  /** Whether costs are known to be missing from the sum. */
  missionCostIncomplete: boolean;
  /** When a runtime first claimed the run; null before. */
  startedAt: number | null;
  /** When the run was completed, failed or was canceled; null before. */
  finishedAt: number | null;
  /** The branch that the runtime of the run has pushed; null before. */
  branch: string | null;
  /** The newest commit of the pushed branch. */
  headSha: string | null;
  /** The number of the run’s pull request; null without one. */
  prNumber: number | null;
  /** The page of the run’s pull request; null without one. */
  prUrl: string | null;
  /** The state of the run’s pull request, updated periodically; null without one. */
  prState: 'open' | 'merged' | 'closed' | null;
  /** The changes of the run’s commits in the repository; null while the run is open, and for a run without a repository, such as a script. */
  outcome: RunOutcome | null;
}
/** The result of a run that has ended, in the repository of its project. */
export interface RunOutcome {
  /** Whether there are changes. */
  result: 'changes' | 'no_changes';
  /** Number of commits since the base branch; null when the runtime did not count. */
  commits: number | null;
  /** Number of files that the commits change; null when the runtime did not count. */
  files: number | null;
  /** Number of lines that the commits add; null when the runtime did not count. */
  insertions: number | null;
  /** Number of lines that the commits remove; null when the runtime did not count. */
  deletions: number | null;
  /** Branch of the changes; null without changes. */
  branch: string | null;
  /** The newest of the commits. */
  headSha: string | null;
  /** The number of the pull request; null without one. */
  prNumber: number | null;
  /** The page of the pull request; null without one. */
  prUrl: string | null;
  /** The state of the pull request; null without one. */
  prState: 'open' | 'merged' | 'closed' | null;
  /** Reason why a person must merge the pull request although its project merges approved changes; null otherwise. */
  mergeBlocker: string | null;
}
/** Several attempts at one task, of which a person chooses one. */
export interface AttemptGroup {
  /** The id, which starts with `grp_`. */
  id: string;
  /** The project in whose repository the attempts work. */
  projectId: string;
  /** The first line of the task. */
  title: string;
  /** The task. The prompt of a single attempt may differ from the task. */
  prompt: string;
  /** Maximum cost of all attempts together in US dollars; null means that the attempts have no common limit. */
  budgetUsd: number | null;
  /** Cost of all attempts so far, US dollars. */
  costUsd: number;
  /** The decision. */
  state: 'open' | 'chosen' | 'closed';
  /** The run of the chosen attempt; null without one. */
  chosenRunId: string | null;
  /** Name of the person who has decided; null before. */
  decidedBy: string | null;
  /** When the person decided; null before. */
  decidedAt: number | null;
  /** When the attempts were started. */
  createdAt: number;
  /** The attempts, in order. */
  attempts: Attempt[];
}
/** The parameters of `attemptGroup`. */
export interface AttemptGroupParameters {
  /** The id of the group of attempts: `attemptGroup.id` of a run. */
  attemptGroupId: string;
}
/** The parameters of `attemptGroupUpdated`. */
export interface AttemptGroupUpdatedParameters {
  /** The id of the group of attempts: `attemptGroup.id` of a run. */
  attemptGroupId: string;
}
/** A signed statement about a commit of a mission. It contains the run, agents, harnesses, prompts, calls, approvals, reviews and cost that led to the commit, as the platform has seen them. The statement is signed again when one of these changes. */
export interface Attestation {
  /** The commit. */
  sha: string;
  /** The tree of the commit. */
  treeSha: string;
  /** The run that produced the commit. */
  runId: string;
  /** The project of the run. */
  projectId: string;
  /** Position among the commits of the run, from 1. */
  position: number;
  /** The id of the signing key, which is one of the keys at `/.well-known/audit-keys.json`. */
  keyId: string;
  /** When the statement was signed. */
  signedAt: number;
  /** When the runtime reported the commit. */
  createdAt: number;
  envelope: DsseEnvelope;
}
/** A signed envelope (DSSE 1.0). */
export interface DsseEnvelope {
  /** The type of the payload: `application/vnd.in-toto+json`. */
  payloadType: string;
  /** The statement as canonical JSON (RFC 8785), in base64. */
  payload: string;
  /** The signature of the platform. */
  signatures: DsseSignature[];
}
/** A signature of an envelope. */
export interface DsseSignature {
  /** The id of the key, among those at `/.well-known/audit-keys.json`. */
  keyid: string;
  /** The Ed25519 signature over the pre-authentication encoding of type and payload, in base64. */
  sig: string;
}
/** The parameters of `attestation`. */
export interface AttestationParameters {
  /** The whole id of the commit, in lower case. */
  sha: string;
}
/** The actor of a change. */
export interface AuditActor {
  /** Kind of the actor. */
  type: 'person' | 'application' | 'agent' | 'service' | 'system' | 'operator' | 'unknown';
  /** The id of the person. For any other actor, the id of its credential, or null if it has none. */
  id: string | null;
  /** The present name; null for an actor that has none, was erased, or no longer exists. */
  name: string | null;
}
/** A value that was changed. */
export interface AuditChange {
  /** The name of the value in the record. */
  path: string;
  /** The value before the change; null for a new record. A text is cut after 1000 characters, and the value of a secret is `[secret]`. */
  before: {
    [k: string]: unknown | undefined;
  };
  /** The value after the change; null for a deleted record. A text is cut after 1000 characters, and the value of a secret is `[secret]`. */
  after: {
    [k: string]: unknown | undefined;
  };
}
/** The signed state of an audit log. If a log does not begin with the signed entries, it was changed. The service signs a checkpoint every hour; after thirty days, it keeps only the first checkpoint of each day. */
export interface AuditCheckpoint {
  /** The id. */
  id: string;
  /** The number of signed entries. It equals the `number` of the last of them. */
  size: number;
  /** The root hash of the Merkle tree of these entries (RFC 6962), in base64. */
  rootHash: string;
  /** The algorithm of the signature: `ed25519`. */
  algorithm: string;
  /** The id of the key, among those at `/.well-known/audit-keys.json`. */
  keyId: string;
  /** The key in the format that verifiers of signed notes expect: name, hash and public key. */
  verifierKey: string;
  /** The checkpoint as a signed note (C2SP tlog-checkpoint), to be kept elsewhere. */
  note: string;
  /** When the checkpoint was signed. */
  createdAt: number;
}
/** One page of a list of AuditCheckpoint records. */
export interface AuditCheckpointPage {
  /** Newest first. */
  data: AuditCheckpoint[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `auditCheckpoints`. */
export interface AuditCheckpointsParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** A proof that a tree of the audit log begins with an earlier one (RFC 6962 section 2.1.2). */
export interface AuditConsistencyProof {
  /** The number of entries of the earlier tree. */
  first: number;
  /** The number of entries of the later tree. */
  second: number;
  /** The root hash of the earlier tree, in base64. */
  firstRootHash: string;
  /** The root hash of the later tree, in base64. */
  secondRootHash: string;
  /** The hashes of the proof, in base64. */
  hashes: string[];
}
/** The parameters of `auditConsistencyProof`. */
export interface AuditConsistencyProofParameters {
  /** The number of entries of the earlier tree. */
  first: number;
  /** The number of entries of the later tree, at most the total number of entries. */
  second: number;
}
/** The parameters of `auditEntries`. */
export interface AuditEntriesParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** An event of the audit log, with its leaf in the Merkle tree. */
export interface AuditEntry {
  /** The number of the event. */
  number: number;
  /** The event as canonical JSON (RFC 8785), whose bytes are the leaf; null once the event was deleted because of its age. */
  entry: string | null;
  /** The hash of the leaf, in base64. */
  leafHash: string;
}
/** One page of a list of AuditEntry records. */
export interface AuditEntryPage {
  /** Oldest first. */
  data: AuditEntry[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** A change of a record, as one entry of the audit log of an organization. */
export interface AuditEvent {
  /** The position in the log: 1 for the first event, without gaps. A later number never appears before an earlier one. */
  number: number;
  /** When the transaction of the change began. */
  occurredAt: number;
  /** When the event got its number, at most a few seconds after the change. */
  recordedAt: number;
  /** The action: the kind of record and a verb, such as `project.created`, `member.removed` or `run.completed`. */
  action: string;
  actor: AuditActor;
  /** The person for whom an application or an agent acted; null otherwise. */
  onBehalfOf: AuditActor | null;
  /** The id of the session, token or registration that was used; null without one. */
  credentialId: string | null;
  /** Where the request arrived: `rest`, `graphql`, `mcp`, `a2a`, `oauth`, `console`, a job or a command; null if unknown. */
  surface: string | null;
  /** The root field, route, job or command that made the change; null if unknown. */
  operation: string | null;
  /** The id of the request, as in `X-Request-Id`; null for a change without a request. */
  requestId: string | null;
  /** The trace of the request or job (W3C Trace Context), in the collector of the operator; null for a change without a trace. */
  traceId: string | null;
  /** The network address of the client; null for a change without a request, and for an erased person. */
  sourceAddress: string | null;
  /** The project of the record; null for a record of the organization. */
  projectId: string | null;
  /** The changed record, and the mission that it belongs to. */
  targets: AuditTarget[];
  /** The values that were changed; for a new or deleted record, all of its values. */
  changes: AuditChange[];
  /** Whether the personal values can be read. */
  personalValues: 'readable' | 'erased' | 'altered';
}
/** A record that a change concerns. */
export interface AuditTarget {
  /** The kind of record. For the record that was changed, this is the first part of `action`; for the mission to which that record belongs, it is `run`. */
  type: string;
  /** The id of the record. If several values identify it, they are joined by colons. */
  id: string;
  /** The name of the record after the change, or before its deletion; for a member, the present name. Null for a record without a name, and for an erased person. */
  name: string | null;
}
/** One page of a list of AuditEvent records. */
export interface AuditEventPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: AuditEvent[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** A proof that an event is in the audit log (RFC 6962 section 2.1.1). */
export interface AuditEventProof {
  /** The number of the event. Its leaf has the index `number - 1`. */
  number: number;
  /** The number of entries of the tree. */
  size: number;
  /** The event as canonical JSON (RFC 8785), whose bytes are the leaf; null once the event was deleted because of its age. */
  entry: string | null;
  /** The hash of the leaf, in base64. */
  leafHash: string;
  /** The root hash of the tree, in base64; equal to that of a checkpoint of this size. */
  rootHash: string;
  /** The audit path from the leaf to the root, in base64. */
  hashes: string[];
}
/** The parameters of `auditEventProof`. */
export interface AuditEventProofParameters {
  /** The number of the event. */
  number: number;
  /** The number of leaves of the tree that the proof is about, such as the size that a checkpoint states. The proof shows that this tree contains the event. Must be at least `number`; absent means the whole tree. */
  size?: number;
}
/** The parameters of `auditEvents`. */
export interface AuditEventsParameters {
  /** Only changes by this actor, or on behalf of this person. */
  actorId?: string;
  /** Only this action, such as `member.removed`. */
  action?: string;
  /** Only actions on this kind of record, such as `member`. */
  targetType?: string;
  /** Only changes of the record with this id. For a run, also changes of all records that belong to it. */
  targetId?: string;
  /** Only changes of this project and of its records. */
  projectId?: string;
  /** Only changes at this time or later; the year is at most 9999. */
  occurredFrom?: number;
  /** Only changes before this time; the year is at most 9999. */
  occurredBefore?: number;
  /** Only events with a larger number than this. If `order` is `oldest`, the list begins with the next event. */
  after?: number;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Order of the list, newest first when absent. A cursor is valid for one order only. */
  order?: 'oldest' | 'newest';
}
/** How long an organization keeps its audit log. */
export interface AuditRetention {
  /** Days after which an event is deleted; 730 unless the organization has chosen another number. */
  days: number;
}
/** The destination to which the audit log of an organization is sent: each entry and checkpoint at least once, in the order of the entries’ numbers, as the lines that `aep audit export --format entries` writes. Its credentials are not returned. */
export interface AuditStream {
  /** An https URL, or `s3://bucket/prefix`. */
  address: string;
  /** Whether the deliveries are accepted. */
  state: 'waiting' | 'delivering' | 'failing';
  /** The number of the last entry that the destination has accepted; 0 before the first one. */
  lastNumber: number;
  /** The number of entries that have not been delivered yet. */
  pending: number;
  /** When the destination last accepted a delivery; null before the first one. */
  deliveredAt: number | null;
  /** Since when deliveries have been failing; null if the destination accepted the last delivery. */
  failingSince: number | null;
  /** Why the last delivery failed; null if the destination accepted it. */
  lastError: string | null;
  /** When the next attempt begins; null while deliveries are accepted. */
  nextAttemptAt: number | null;
  /** When the first destination was chosen. */
  createdAt: number;
  /** When the destination was last changed. */
  updatedAt: number;
}
/** Where the audit log of an organization is sent. */
export interface AuditStreaming {
  /** The destination; null without one. */
  stream: AuditStream | null;
}
/** A recurring mission of the organization: it starts on a schedule or manually. */
export interface Automation {
  /** The id, which is unique and never changes. */
  id: string;
  /** The organization of the recurring mission. */
  orgId: string;
  /** The project in whose repository the missions work. */
  projectId: string;
  /** The name, 1 to 120 characters; the title of each issue. */
  name: string;
  /** The task for the agent: 1 to 20,000 characters. */
  prompt: string;
  /** The template of the recurring mission; null without one. */
  templateKey: string | null;
  /** 1 to 10 schedules; each occurrence of any of them starts a mission. */
  triggers: Trigger[];
  /** Labels that each issue gets, at most 20. */
  labels: string[];
  /** Whether an occurrence is skipped while an earlier run is dispatching or running. */
  skipIfPreviousOpen: boolean;
  /** Whether the schedule is active; "run now" works for an inactive one too. */
  enabled: boolean;
  /** The next occurrence; null while the recurring mission is disabled. */
  nextRunAt: number | null;
  /** When a mission last started; a skipped run does not count. Null before the first. */
  lastRunAt: number | null;
  /** When the recurring mission was created. */
  createdAt: number;
  /** When a person last changed the recurring mission. */
  updatedAt: number;
}
/** A trigger of a recurring mission: each occurrence of its schedule starts a mission. */
export interface Trigger {
  /** Always `schedule`. */
  kind: 'schedule';
  schedule: Schedule;
}
/** A wall-clock time in a time zone. If a clock change skips the time, the mission starts later by the length of the change. If the time occurs twice, the mission starts at the first occurrence. In a month without the day, the mission starts on the last day. */
export interface Schedule {
  /** Interval between occurrences. */
  interval: 'daily' | 'weekly' | 'monthly';
  /** Time of day HH:MM, 00:00 to 23:59, in the time zone. */
  time: string;
  /** An IANA time zone such as Europe/Berlin. */
  timezone: string;
  /** Day of the week; present when `interval` is weekly. */
  weekday?: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  /** Day of the month, 1 to 31; present when `interval` is monthly. */
  dayOfMonth?: number;
}
/** One page of a list of Automation records. */
export interface AutomationPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Automation[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `automation`. */
export interface AutomationParameters {
  /** The id of the automation. */
  automationId: string;
}
/** One run of an automation. */
export interface AutomationRun {
  /** The id, which is unique and never changes. */
  id: string;
  /** The automation of this run. */
  automationId: string;
  /** The project in whose repository the run works. */
  projectId: string;
  /** When the run was due; for several missed occurrences that became one run, the time of the first. */
  scheduledFor: number;
  /** The origin of the run: the schedule of its mission, or a person, a program or an event. */
  kind: 'scheduled' | 'manual';
  /** Status of the run; `reason` explains it. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The issue’s id in the project’s tracker; null until the tracker has created it. */
  issueId: string | null;
  /** The page of the issue; null until the tracker has created it. */
  issueUrl: string | null;
  /** Reason why the run was skipped, was canceled or has failed; while it is dispatching, the reason for its wait. */
  reason: string | null;
  /** The last error of the tracker or of a runtime; null when there was none. */
  lastError: string | null;
  /** When the record of the run was written. */
  createdAt: number;
  /** When the run last changed. */
  updatedAt: number;
  /** Progress in percent, as the runtime reports it; null while no runtime works on it. Scripts report it; for agents it is 0 until the run is completed. */
  missionProgress: number | null;
  /** Current activity, as the runtime reports it. */
  missionActivity: string | null;
  /** Cost of the run in US dollars, the sum of all reported costs. */
  missionCostUsd: number;
  /** The name of the scheduled task or automation when the run began; without one, the first line of the prompt. */
  missionTitle: string | null;
}
/** One page of a list of AutomationRun records. */
export interface AutomationRunPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: AutomationRun[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `automationRuns`. */
export interface AutomationRunsParameters {
  /** The id of the automation. */
  automationId: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `automations`. */
export interface AutomationsParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Only automations of this project. */
  projectId?: string;
}
/** The parameters of `billingLedger`. */
export interface BillingLedgerParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** Credits that can be bought once. */
export interface BillingOffer {
  /** Always `pack`. */
  id: string;
  /** The value for `offer` of a checkout session. */
  kind: 'pack' | 'team';
  /** Name for people, in English. */
  name: string;
  /** Number of whole credits. */
  credits: number;
  /** Price of one pack, US dollars. */
  priceUsd: number;
  /** Price of one credit, US dollars. */
  perCreditUsd: number;
}
/** A paid purchase of an organization. */
export interface BillingOrder {
  /** The id, which starts with `ord_`. */
  id: string;
  /** The purchased offer. */
  offer: 'pack' | 'team';
  /** Number of whole credits. */
  credits: number;
  /** Amount paid, US dollars. */
  amountUsd: number;
  /** Whether the order is paid or has been withdrawn. */
  status: 'paid' | 'withdrawn';
  /** When the order was paid. */
  createdAt: number;
  /** The end of the withdrawal period; null when the order cannot be withdrawn. */
  withdrawableUntil: number | null;
}
/** Number of projects of the organization, and its limit. */
export interface BillingProjects {
  /** All projects, including archived ones. */
  used: number;
  /** Limit of the plan; null means unlimited. */
  limit: number | null;
}
/** Whether and how credits can be bought. */
export interface BillingPurchaseState {
  /** Whether a checkout session can be created. */
  enabled: boolean;
  /** The payment provider, such as `builtin`. */
  provider: string;
  /** Whether the provider takes test money only. */
  testMoney: boolean;
}
/** The plan and the credits of an organization, and the actions that they allow. */
export interface BillingSummary {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The plan whose limits apply. */
  plan: 'free' | 'pack' | 'team' | 'enterprise';
  /** Not used yet: always null. */
  cohort: string | null;
  /** Payment mode of the plan. */
  mode: 'prepaid' | 'subscription' | 'invoice';
  /** Whole credits, rounded down; credits that running missions have reserved are included. */
  balance: number;
  /** Sources of credits, earliest expiry first. */
  sources: CreditSource[];
  /** Whether fewer than 10 credits are left. */
  low: boolean;
  /** Whether credits and plan allow a mission to start now; the daily cost cap may still forbid it. */
  canStartMission: boolean;
  /** Whether the caller may buy credits and change the plan. */
  canManage: boolean;
  /** Not used yet: always false. */
  coveredByShip: boolean;
  /** Maximum cost of one mission, in credits. */
  missionCeiling: number;
  /** Maximum number of open missions; null means that only the credits limit it. */
  sandboxLimit: number | null;
  projects: BillingProjects;
  /** The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule. */
  trackerTriggers: 'anyone' | 'members' | 'off';
  usage: BillingUsage;
  /** The open request for credits; null without one. */
  openCreditRequest: OpenCreditRequest | null;
  /** The recipients of requests for credits. */
  creditRequestsGoTo: 'owners';
  purchase: BillingPurchaseState;
  /** The subscription; null without one. */
  subscription: TeamSubscription | null;
  /** A plan that would cost less; null when there is none. */
  advice: PlanAdvice | null;
  trial: BillingTrialState;
}
/** Credits that were received together and expire together. */
export interface CreditSource {
  /** The origin of the credits. */
  kind: 'trial' | 'pack' | 'subscription' | 'grant';
  /** Remaining credits, to a millionth, including reserved ones. */
  credits: number;
  /** When the credits can first be spent; null means at once. */
  startsAt: number | null;
  /** When the credits expire; null means never. Credits that expire first are spent first. */
  expiresAt: number | null;
}
/** Usage of missions in the current period. */
export interface BillingUsage {
  /** The period of the subscription; without a subscription, the calendar month in UTC. */
  periodStart: number;
  /** Missions that were settled in the period. */
  missions: number;
  /** Credits that missions spent in the period, to a millionth. */
  creditsSpent: number;
}
/** An open request for credits. */
export interface OpenCreditRequest {
  /** The id, which starts with `crq_`. */
  id: string;
  /** When the first message of the request was sent. */
  createdAt: number;
  /** The messages, oldest first. */
  messages: CreditMessage[];
}
/** One message of a request for credits. */
export interface CreditMessage {
  /** The message, 1 to 2,000 characters. */
  message: string;
  /** The id of the person who sent the message; starts with `usr_`. */
  userId: string;
  /** When the message was sent. */
  at: number;
}
/** The subscription of an organization to a team plan. */
export interface TeamSubscription {
  /** The plan of the current period. */
  plan: 'team-5' | 'team-20';
  /** State of the subscription, which tells whether it renews. */
  status: 'active' | 'canceling' | 'canceled';
  /** When the subscription renews or ends. */
  currentPeriodEnd: number;
  /** Whether the subscription ends when its period ends. */
  cancelAtPeriodEnd: boolean;
  /** The plan from the next period on; null when it does not change. */
  nextPlan: 'team-5' | 'team-20' | null;
}
/** A plan that would cost less than this month’s usage. */
export interface PlanAdvice {
  /** The plan. */
  plan: 'team-5' | 'team-20';
  /** The suggestion as text for people. */
  reason: string;
}
/** The trial credits of an organization. */
export interface BillingTrialState {
  /** Number of trial credits, a whole number; 0 when the founder had their trial in another organization. */
  granted: number;
  /** Remaining trial credits, to a millionth; 0 once they have expired. */
  remaining: number;
  /** When the trial credits expire; null means never. */
  endsAt: number | null;
}
/** The parameters of `bindChatChannel`. */
export interface BindChatChannelParameters {
  /** The id of the chat’s connector. */
  chatId: string;
  /** The vendor’s id of the channel, such as `C0123456789`. */
  channelId: string;
  /** The project. */
  projectId: string;
}
/** The most that the missions of an organization, a project or a person may cost in a day or month. */
export interface Budget {
  /** The id, which starts with `bud_`. */
  id: string;
  /** The organization of the budget. */
  orgId: string;
  /** The missions that the budget covers. */
  subject: 'organization' | 'project' | 'person';
  /** The project, if the subject is `project`; null otherwise. */
  projectId: string | null;
  /** The person, if the subject is `person`; null otherwise. */
  userId: string | null;
  /** Name of the project or person; null with the subject `organization`. */
  subjectName: string | null;
  /** The period that the amount applies to. */
  period: 'day' | 'month';
  /** The amount in US dollars for each period. */
  amountUsd: number;
  /** Cost of the missions that the budget covers, in the current period, US dollars. */
  spentUsd: number;
  /** When the current period began. */
  periodStart: number;
  /** When the next period begins. */
  periodEnd: number;
  /** When the budget was created. */
  createdAt: number;
  /** When the budget was last changed. */
  updatedAt: number;
}
/** One page of a list of Budget records. */
export interface BudgetPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Budget[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `budget`. */
export interface BudgetParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  budgetId: string;
}
/** The parameters of `budgets`. */
export interface BudgetsParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `cancelRun`. */
export interface CancelRunParameters {
  /** The id of the run. */
  runId: string;
}
/** A group after a change of its role. */
export interface ChangedDirectoryGroup {
  /** The id, which starts with `scg_`: the id of the group at the SCIM endpoint. */
  id: string;
  /** Name of the group at the identity provider. */
  displayName: string;
  /** Id of the group at the identity provider; null when the provider sends none. */
  externalId: string | null;
  /** The role that the group gives to its members; null when it gives none. */
  role: 'admin' | 'member' | 'viewer' | null;
  /** When the identity provider created the group. */
  createdAt: number;
  /** When the group was last changed. */
  updatedAt: number;
}
/** The content of a changed file before or after the change. */
export interface ChangedFile {
  /** The content in base64, at most 1,048,576 bytes before the encoding; null if the run has no change, the file does not exist in that version, or the source host does not have the commit. */
  base64: string | null;
}
/** The parameters of `changedFile`. */
export interface ChangedFileParameters {
  /** The run. */
  runId: string;
  /** The path of the file in the repository. */
  path: string;
  /** The version of the file. */
  side: 'old' | 'new';
}
/** A chat channel that is bound to a project. */
export interface ChatChannel {
  /** The connector of the chat. */
  integrationId: string;
  /** The vendor’s id of the channel. */
  channelId: string;
  /** The name of the channel when it was bound. */
  name: string;
  /** The project for missions that start in the channel. */
  projectId: string;
  /** When the channel was bound. */
  createdAt: number;
}
/** A chat workspace, in which members start and steer missions. */
export interface ChatConnection {
  /** The connector of the workspace. */
  integrationId: string;
  /** The organization of the connection. */
  orgId: string;
  /** The vendor’s id of the workspace. */
  workspaceId: string;
  /** Reason why the last message could not be written; null if it was written. */
  problem: string | null;
  /** When the latest rate limit of the vendor ends or ended; null if there was none. */
  pausedUntil: number | null;
  /** The hook that receives the events; its deliveries show the outcome of each event. */
  hookId: string;
  /** The URL to enter for events, commands and buttons in the settings of the app. */
  eventsAddress: string;
  /** The channels that are bound to projects, oldest first. */
  channels: ChatChannel[];
  /** When the workspace was connected. */
  createdAt: number;
  /** When the connection last changed. */
  updatedAt: number;
}
/** The chats of the organization. */
export interface ChatConnectionList {
  /** The connections, oldest first. */
  data: ChatConnection[];
}
/** The parameters of `checkIntegration`. */
export interface CheckIntegrationParameters {
  /** An integration of the organization. */
  integrationId: string;
}
/** The parameters of `checkoutSession`. */
export interface CheckoutSessionParameters {
  /** The id of the checkout session. */
  checkoutId: string;
}
/** A new checkout session. */
export interface CheckoutSessionResponse {
  /** The id, which starts with `chk_`. */
  checkoutId: string;
  /** The page of the payment provider, for a person. */
  url: string;
}
/** A checkout session. */
export interface CheckoutSessionStatus {
  /** The id, which starts with `chk_`. */
  checkoutId: string;
  /** State of the checkout session; `complete` once it is paid. */
  status: 'open' | 'complete' | 'expired';
  /** The selected offer. */
  offer: 'pack' | 'team';
  /** Total credits of all packs, or of one period of the plan. */
  credits: number;
  /** The team plan; null for packs. */
  teamPlan: CheckoutTeamPlan | null;
}
/** The team plan that is bought in a checkout session. */
export interface CheckoutTeamPlan {
  /** The id of the plan. */
  plan: 'team-5' | 'team-20';
  /** Name of the plan, for people. */
  name: string;
}
/** The workspace after a step, with uncommitted files, except those that git ignores. The checkpoint is kept as long as its artifact. */
export interface Checkpoint {
  /** The id of a commit with all files of the workspace. The commit is not on the branch of the run. */
  commitSha: string;
  /** When the checkpoint was taken: at the end of the step, or while the step runs. */
  createdAt: number;
  /** The artifact that holds the checkpoint: a git bundle. */
  artifactId: string;
}
/** An upload URL for the bytes of a checkpoint. */
export interface CheckpointUpload {
  /** The key that `pushCheckpoint` takes once the upload is complete. */
  contentKey: string;
  /** URL for a PUT of the bytes; it needs no credential. */
  uploadUrl: string;
  /** The upload must begin before this time. */
  expiresAt: number;
}
/** The parameters of `chooseAttempt`. */
export interface ChooseAttemptParameters {
  /** The run of the attempt. */
  runId: string;
}
/** The parameters of `closeAttempts`. */
export interface CloseAttemptsParameters {
  /** The id of the group of attempts: `attemptGroup.id` of a run. */
  attemptGroupId: string;
}
/** The parameters of `closeTerminal`. */
export interface CloseTerminalParameters {
  /** The id of a terminal that the caller has opened. */
  terminalId: string;
}
/** The result of ending one part of the organization, such as its subscription. */
export interface ClosureSettlement {
  /** The kind of settlement. */
  kind: 'subscription' | 'credits' | 'sandboxes' | 'schedules' | 'tokens';
  /** The result, in one sentence. */
  description: string;
  /** The refund in US dollars; null when no money is involved. */
  amountUsd: number | null;
}
/** The parameters of `commentOnIssue`. */
export interface CommentOnIssueParameters {
  /** The id of the issue. */
  issueId: string;
  /** The text in Markdown, 1 to 8,000 characters. */
  body: string;
}
/** The parameters of `compareAgentVersions`. */
export interface CompareAgentVersionsParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
  /** The number of a version. */
  first: number;
  /** The number of another version. */
  second: number;
  /** Only missions that began in this number of days before now are counted: 1 to 366. */
  days?: number;
}
/** The parameters with which the authorization server redirected the person. */
export interface CompleteMcpOAuthRequest {
  /** The authorization code (RFC 6749, section 4.1.2). */
  code: string;
  /** The state parameter: accepted once, from the person who started the sign-in. */
  state: string;
  /** The issuer identifier, if the authorization server sent one (RFC 9207). */
  iss?: string;
}
/** The parameters of `connectChat`. */
export interface ConnectChatParameters {
  /** The app. */
  input: {
    /** The vendor of the chat. */
    vendor: 'slack';
    /** The display name, 1 to 120 characters. */
    displayName: string;
    /** The token of the app in the workspace, such as `xoxb-…`; stored encrypted and never returned. */
    botToken: string;
    /** The secret with which the vendor signs requests; stored encrypted and never returned. */
    signingSecret: string;
  };
}
/** The parameters of `connectIntegration`. */
export interface ConnectIntegrationParameters {
  /** The vendor to connect. */
  vendor: 'linear' | 'github' | 'gitlab' | 'builtin' | 'anthropic' | 'openai' | 'slack';
  /** The kind of connector: required for `github`, which is a tracker and a source host. */
  vendorKind?: 'tracker' | 'scm' | 'llm' | 'chat';
  /** The display name, 1 to 120 characters. */
  displayName: string;
  /** A token or API key of the vendor. It is stored encrypted and never returned. Absent for the built-in tracker. */
  credentials?: string;
  /** The base URL of a server other than the vendor’s own: a GitHub Enterprise Server, such as `https://github.example.com/api/v3`, or a server with a compatible model API. For `openai`, the URL includes the version of the API, such as `https://models.example.com/v1`. The server must be public and use https on port 443. The URL cannot be changed later. */
  baseUrl?: string;
  /** An installation of a GitHub App instead of a token; only for `github`. */
  githubApp?: {
    /** The id or client id of the App, from its settings. */
    appId: string;
    /** The id of the installation: the number at the end of the URL of its settings. */
    installationId: string;
    /** A private key of the App, PEM. It is stored encrypted and never returned. */
    privateKey: string;
  };
  /** A Linear OAuth application instead of an API key, only for `linear`. The application acts as an agent in Linear. */
  linearApp?: {
    /** The client id of the application, as its settings show it. */
    clientId: string;
    /** The client secret of the application: encrypted, and never returned. */
    clientSecret: string;
  };
  /** The models of the connector, with their prices, as `setIntegrationModels` sets them: at most 50, only for language models. */
  models?: {
    /** The id of the model at the server: 1 to 100 characters, unique in the organization. */
    id: string;
    /** The display name, 1 to 120 characters. */
    name: string;
    /** Prices of a call. */
    prices: {
      /** Price of input tokens: US dollars per million, 0 to 10,000. */
      input: number;
      /** Price of output tokens: US dollars per million, 0 to 10,000. */
      output: number;
      /** Price of tokens read from the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
      cacheRead?: number | null;
      /** Price of tokens written to the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
      cacheWrite?: number | null;
    };
  };
}
/** Connections of a run to one host and port, in one phase and with one verdict. */
export interface Connection {
  /** The id of the run. */
  runId: string;
  /** The sandbox template of the first step that attempted the connection. */
  templateId: string;
  /** The requested host; `*` stands for all hosts beyond the first 500. */
  host: string;
  /** The port; 0 with the host `*`. */
  port: number;
  /** The phase of the connection. */
  phase: 'setup' | 'agent';
  /** Result: allowed, or why it was refused. */
  verdict: 'allowed' | 'blocked' | 'not_public' | 'unknown_host' | 'failed' | 'untrusted';
  /** Number of attempts. */
  count: number;
  /** Bytes sent to the host. */
  sentBytes: number;
  /** Bytes received from the host. */
  receivedBytes: number;
  /** Names of the programs that requested the connections, as far as the runtime knows them; at most 10. */
  programs: string[];
  /** When the connection was first reported. */
  createdAt: number;
  /** When the connection was last reported. */
  updatedAt: number;
}
/** The connections of a run. */
export interface ConnectionList {
  /** Connections: blocked ones first, then failed, then allowed ones; about 500 at most. */
  data: Connection[];
}
/** The parameters of `continueRun`. */
export interface ContinueRunParameters {
  /** The run to continue, which must have ended. */
  runId: string;
}
/** The body of `POST /runs/{runId}/continuation`. */
export interface ContinueRunRequest {
  /** The next task: 1 to 20000 characters. */
  prompt: string;
  /** The step whose checkpoint the new run begins from; absent means the newest checkpoint of the run. */
  stepId?: string | null;
  /** Budget of the mission in US dollars, 0.01 to 10,000. If the next model call or minute would exceed the budget, the mission waits until a person raises the budget. Absent means that only the plan and the credits of the organization limit the mission. */
  budgetUsd?: number | null;
}
/** A new agent of the organization. */
export interface CreateAgentRequest {
  /** 1 to 120 characters; unique in the organization. */
  name: string;
  /** The role of the agent in a mission. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the agent’s model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** One of the models of the harness. */
  model: string;
  /** The working environment of the agent. */
  sandbox: {
    /** Always `existing`. */
    kind: 'existing';
    /** A sandbox template of the organization, or `standard` to use the project’s template. */
    templateId: string;
  };
  /** Reasoning effort of the model; null means the harness decides. */
  effort?: ('low' | 'medium' | 'high') | null;
  /** Instructions in addition to the issue: at most 20,000 characters. */
  userPrompt?: string | null;
  /**
   * `<owner>/<repo>` of repositories with skills: at most 20.
   *
   * @maxItems 20
   */
  skillRepos?: string[];
}
/** A new budget. A subject has at most one budget for each period. */
export interface CreateBudgetRequest {
  /** The missions that the budget covers. */
  subject: 'organization' | 'project' | 'person';
  /** Required with the subject `project`. */
  projectId?: string | null;
  /** A member; required with the subject `person`. */
  userId?: string | null;
  /** The period that the amount applies to. */
  period: 'day' | 'month';
  /** US dollars in each period: 0.01 to 1000000, rounded to a hundredth of a cent. */
  amountUsd: number;
}
/** The order. */
export interface CreateCheckoutSessionRequest {
  /** Packs of credits, or a team plan. */
  offer: 'pack' | 'team';
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: string;
  /** Packs, 1 to 100; 1 when absent. */
  quantity?: number;
  /** Required for the offer `team`, and for no other. */
  teamPlan?: 'team-5' | 'team-20';
  /** True means that the credits can be spent at once, and that spent ones are not refunded. Otherwise the credits can be spent after the withdrawal period of 14 days. */
  startNowConsent?: boolean;
}
/** The parameters of `createCheckpointUpload`. */
export interface CreateCheckpointUploadParameters {
  /** The run, which must have ended. */
  runId: string;
}
/** A message to the owners of the organization. */
export interface CreateCreditRequest {
  /** The message, 1 to 2,000 characters, for the owners. */
  message: string;
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: string;
}
/** The parameters of `createDirectoryToken`. */
export interface CreateDirectoryTokenParameters {
  /** A label for people, 1 to 100 characters. */
  name: string;
  /** Days until the token expires, 1 to 730. */
  expiresInDays?: number;
}
/** The parameters of `createIdentityProvider`. */
export interface CreateIdentityProviderParameters {
  /** The new provider. */
  input: {
    /** The name on the sign-in page, 1 to 120 characters. */
    name: string;
    /** The issuer, an https URL of a public host. */
    issuer: string;
    /** The client id at the provider. */
    clientId: string;
    /** The client secret, which is stored encrypted. */
    clientSecret: string;
    /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
    defaultRole?: ('owner' | 'admin' | 'member' | 'viewer') | null;
  };
}
/** A new hook. */
export interface CreateInboundHookRequest {
  /** The name, 1 to 120 characters. */
  name: string;
  /** The system whose events the hook understands. */
  vendor: 'linear' | 'github' | 'gitlab' | 'slack' | 'builtin' | 'webhook';
  /** How the sender signs events. Absent means the vendor’s own scheme, or Standard Webhooks for any other system. */
  signature?: 'linear' | 'github' | 'gitlab' | 'slack' | 'standard' | 'header';
  /** The name of the header that contains the signature. Required if `signature` is `header`; otherwise it must be absent or null. */
  signatureHeader?: string | null;
  /** A secret that the sender has chosen, 16 to 200 characters. Absent means a new one. */
  secret?: string;
}
/** A new invite, which is mailed to the address. */
export interface CreateInviteRequest {
  /** An email address; case-insensitive. */
  email: string;
  /** A role that is not above the caller’s own. */
  role: 'owner' | 'admin' | 'member' | 'viewer';
}
/** The parameters of `createIssue`. */
export interface CreateIssueParameters {
  /** The new issue. */
  input: {
    /** A project whose tracker is the built-in one. */
    projectId: string;
    /** The title in one line, 1 to 200 characters. */
    title: string;
    /** The task in Markdown, at most 20000 characters. Agents get it as quoted text. */
    body?: string;
    /**
     * At most 20 labels.
     *
     * @maxItems 20
     */
    labels?: string[];
    /** A member or an agent. Assigning an agent starts a mission at once; the mission is billed to you. Absent means nobody. */
    assigneeId?: string | null;
  };
}
/** The parameters of `createMembership`. */
export interface CreateMembershipParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** A new member, who has an account already. */
export interface CreateMembershipRequest {
  /** The account of the person. A person without one is invited instead. */
  userId: string;
  /** A role that is not above the caller’s own. */
  role: 'owner' | 'admin' | 'member' | 'viewer';
}
/** The parameters of `createMissionView`. */
export interface CreateMissionViewParameters {
  /** The whole view. */
  input: {
    /** The name, 1 to 80 characters. */
    name: string;
    /** How the missions are shown. */
    layout: 'list' | 'board';
    /** The groups; absent for none. */
    groupBy?: ('status' | 'project' | 'agent' | 'person') | null;
    /** The filters; an absent one means any. */
    filters: {
      /** The words. */
      search?: string | null;
      /** The project. */
      projectId?: string | null;
      /** The status. */
      status?: ('dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled') | null;
      /** The agent. */
      agentId?: string | null;
      /** The person. */
      personId?: string | null;
      /** Whether the schedule or a person started the missions. */
      kind?: ('scheduled' | 'manual') | null;
      /** True: only missions that the person follows. */
      followed?: boolean | null;
      /** True: only missions that wait for a person to act. */
      needsPerson?: boolean | null;
    };
  };
}
/** A new organization. Without a slug it gets one derived from its name. */
export interface CreateOrganizationRequest {
  /** The name, 1 to 120 characters. */
  name: string;
  /** The slug, 1 to 64 lower-case letters, digits and hyphens; unique. */
  slug?: string;
}
/** A new project of the organization. */
export interface CreateProjectRequest {
  /** The name, 1 to 120 characters. */
  name: string;
  /** The repository, `<owner>/<repo>`. */
  repoFullName: string;
  /** The tracker of its issues; `builtin` when absent. */
  tracker?: 'builtin' | 'linear' | 'github' | 'gitlab';
  /** The key of the team in the tracker. */
  trackerTeamKey?: string;
  /** The prefix of issue keys: 2 to 10 capital letters or digits, beginning with a letter; or null. */
  issueCode?: string | null;
}
/** The parameters of `createRunShare`. */
export interface CreateRunShareParameters {
  /** The id of the run. */
  runId: string;
  /** Days until it expires: 1 to 30; 7 when absent. */
  days?: number;
}
/** The parameters of `createRuntimeToken`. */
export interface CreateRuntimeTokenParameters {
  /** A label for people, 1 to 100 characters. */
  name: string;
}
/** The parameters of `createSamlProvider`. */
export interface CreateSamlProviderParameters {
  /** The new provider. */
  input: {
    /** The name on the sign-in page, 1 to 120 characters. */
    name: string;
    /** The metadata of the provider as XML. */
    metadataXml?: string | null;
    /** The https URL of the metadata, which is read again every day for new keys. */
    metadataUrl?: string | null;
    /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
    defaultRole?: ('owner' | 'admin' | 'member' | 'viewer') | null;
  };
}
/** A new sandbox template. Omitted fields default to the built-in template. */
export interface CreateSandboxTemplateRequest {
  /** 1 to 120 characters; unique in the organization. */
  name: string;
  /** Purpose of the template. */
  description?: string | null;
  /** Source of a sandbox. */
  base?: 'machine' | 'image' | 'dockerfile';
  /** A container image: required with the base `image`, not allowed with any other. */
  image?: string | null;
  /** A Dockerfile: required with the base `dockerfile`, not allowed with any other. */
  dockerfile?: string | null;
  /** A POSIX shell script that prepares the environment, in the checkout. */
  setupScript?: string | null;
  /**
   * At most 50 variables, whose values are not secret.
   *
   * @maxItems 50
   *
   * Items: A variable of the environment.
   */
  variables?: {
    /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
    name: string;
    /** The value, at most 4000 characters. */
    value: string;
  }[];
  /**
   * At most 5 services, which need a runtime with containers.
   *
   * @maxItems 5
   *
   * Items: A container that runs next to each mission.
   */
  services?: {
    /** The name, 1 to 30 lower-case letters, digits and hyphens; unique in the template. */
    name: string;
    /** A container image. */
    image: string;
    /**
     * At most 50 variables, whose values are not secret.
     *
     * @maxItems 50
     *
     * Items: A variable of the environment.
     */
    variables?: {
      /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
      name: string;
      /** The value, at most 4000 characters. */
      value: string;
    }[];
    /** Arguments that replace the command of the image; null means the command of the image. */
    command?: string[] | null;
    /** Shell command in the container that succeeds once the service is ready; null means that the service is ready once its container has run for two seconds. */
    healthCheck?: string | null;
  }[];
  /** The network policy while the environment is prepared. */
  setupNetwork?: {
    /** Set of hosts that the policy allows. */
    mode: 'none' | 'packages' | 'custom' | 'open';
    /**
     * Hosts that a policy `custom` or `packages` adds: at most 100.
     *
     * @maxItems 100
     *
     * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
     */
    hosts?: string[];
  };
  /** The network policy while agents and scripts work. */
  agentNetwork?: {
    /** Set of hosts that the policy allows. */
    mode: 'none' | 'packages' | 'custom' | 'open';
    /**
     * Hosts that a policy `custom` or `packages` adds: at most 100.
     *
     * @maxItems 100
     *
     * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
     */
    hosts?: string[];
  };
  /**
   * At most 20 labels of 1 to 63 lowercase letters, digits, ".", "_" and "-".
   *
   * @maxItems 20
   */
  labels?: string[];
  /** The size of missions that start without a chosen size. `memoryMb` and `diskMb` override the memory and disk space of the size. */
  instanceType?: ('lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4') | null;
  /** Maximum memory of a mission in MiB: 64 to 262,144; null means that the template sets no limit. */
  memoryMb?: number | null;
  /** Maximum disk space of a mission in MiB: 256 to 1,048,576; null means that the template sets no limit. */
  diskMb?: number | null;
  /** Maximum number of processes of a mission: 16 to 32,768; null means that the template sets no limit. */
  processes?: number | null;
  /** Maximum number of minutes of a step: 1 to 1,440; null means that the template sets no limit. */
  stepMinutes?: number | null;
  /** Maximum number of model calls of a step: 1 to 1,000; null means that the template sets no limit. */
  stepModelCalls?: number | null;
  /** Maximum number of tokens of a step: 1,000 to 1,000,000,000; null means that the template sets no limit. */
  stepTokens?: number | null;
  /** Maximum number of minutes that a mission may use its sandbox: 1 to 43,200; null means that the template sets no limit. */
  maxMinutes?: number | null;
  /** Maximum number of model calls of a mission: 1 to 1,000,000; null means that the template sets no limit. */
  maxModelCalls?: number | null;
  /** Maximum number of tokens of a mission: 1,000 to 2,000,000,000; null means that the template sets no limit. */
  maxTokens?: number | null;
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy?: {
    /**
     * Kinds of outside effects that wait for approval.
     *
     * @maxItems 5
     *
     * Items: The kind of an action that a mission performs in another system.
     */
    waits: ('push' | 'pull_request' | 'comment' | 'tracker' | 'mcp_call')[];
    /**
     * Tools whose calls need no approval: `server` or `server.tool`, at most 100.
     *
     * @maxItems 100
     */
    allowedTools?: string[];
  } | null;
}
/** A new scheduled task or automation. */
export interface CreateScheduledTaskRequest {
  /** The project in whose repository the missions work. */
  projectId: string;
  /** The name, 1 to 120 characters. */
  name: string;
  /** The task for the agent: 1 to 20,000 characters. */
  prompt: string;
  /** The key of a template. With `script` the prompt is a POSIX shell script, and no model is used. */
  templateKey?:
    | (
        | 'dependency-updates'
        | 'security-review'
        | 'flaky-tests'
        | 'issue-triage'
        | 'release-notes'
        | 'documentation-check'
        | 'script'
      )
    | null;
  /**
   * 1 to 10 schedules; each occurrence of any of them starts a mission. The list may be empty only if there are event triggers.
   *
   * @maxItems 10
   *
   * Items: A schedule that starts missions.
   */
  triggers: {
    /** Always `schedule`. */
    kind: 'schedule';
    /** The times at which missions start. */
    schedule: {
      /** Interval between occurrences. */
      interval: 'daily' | 'weekly' | 'monthly';
      /** Time of day HH:MM, 00:00 to 23:59. */
      time: string;
      /** An IANA time zone such as Europe/Berlin. */
      timezone: string;
      /** Required when `interval` is weekly. */
      weekday?: ('monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday') | null;
      /** Day of the month, 1 to 31; required when `interval` is monthly. */
      dayOfMonth?: number | null;
    };
  }[];
  /**
   * Labels that each issue gets, at most 20.
   *
   * @maxItems 20
   */
  labels?: string[];
  /** Whether an occurrence is skipped while an earlier run is open. */
  skipIfPreviousOpen?: boolean;
  /** Whether the schedule is active. */
  enabled?: boolean;
}
/** A new secret or variable. */
export interface CreateSecretRequest {
  /** The missions that get the secret or variable. */
  scope: 'organization' | 'project' | 'template';
  /** Required with the scope `project`. */
  projectId?: string | null;
  /** Required with the scope `template`. */
  templateId?: string | null;
  /** Kind of value: an environment variable or a secret. */
  kind: 'variable' | 'secret';
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: string;
  /** 1 to 16,384 characters; a secret has at least 8. The value cannot be read again. */
  value: string;
  /**
   * Hosts to which request headers may carry the secret: at most 20. The network policy must allow these hosts too. Not allowed for a variable.
   *
   * @maxItems 20
   *
   * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
   */
  hosts?: string[];
  /** Whether only the setup gets the secret; such a secret has no hosts. */
  setupOnly?: boolean;
}
/** The parameters of `createSignInDomain`. */
export interface CreateSignInDomainParameters {
  /** The new domain. */
  input: {
    /** The part of the addresses after the `@`, such as `example.com`. */
    domain: string;
  };
}
/** A new endpoint. */
export interface CreateWebhookEndpointRequest {
  /** The name, 1 to 120 characters. */
  name: string;
  /** An https URL of a public host. */
  url: string;
  /**
   * At most 50 types, such as `run.completed`, or a kind of record and `.*` for all of its types. Empty for all.
   *
   * @maxItems 50
   */
  types?: string[];
  /**
   * At most 50 projects. Empty for all events of the organization.
   *
   * @maxItems 50
   */
  projectIds?: string[];
  /** Whether events are sent one after the other, in the order of their numbers: an event that fails delays all later ones, for three days at most. Otherwise, several events are sent at once. */
  ordered?: boolean;
}
/** A withdrawal from an order. */
export interface CreateWithdrawalRequest {
  /** The reason, at most 2000 characters, which is kept with the order. */
  reason?: string;
}
/** A new directory token with its bearer value, which no other response contains. */
export interface CreatedDirectoryToken {
  /** The id, which starts with `sct_`; not a secret. */
  id: string;
  /** A label for people. */
  name: string;
  /** The bearer value, which starts with `scm_`. Only its digest is stored, so it cannot be returned again. */
  token: string;
  /** When the token was created. */
  createdAt: number;
  /** When the token expires. */
  expiresAt: number;
}
/** A new link, with its URL. */
export interface CreatedRunShare {
  share: RunShare;
  /** The URL, which works without an account. It is shown once: only a digest is stored. */
  address: string;
}
/** A link that shows a run to people outside the organization, read-only and masked. */
export interface RunShare {
  /** The id, which starts with `shl_`. */
  id: string;
  /** The run. */
  runId: string;
  /** Name of the person who created the link. */
  createdBy: string;
  /** When the link was created. */
  createdAt: number;
  /** When the link expires; from then on it shows nothing. */
  expiresAt: number;
  /** When the link was revoked; null if it was not revoked. */
  revokedAt: number | null;
  /** Name of the person who revoked the link. */
  revokedBy: string | null;
  /** Number of times that somebody has opened the link. */
  uses: number;
  /** When somebody last opened the link; null if nobody has opened it yet. */
  lastUsedAt: number | null;
}
/** A new runtime token with its bearer value, which no other response contains. */
export interface CreatedRuntimeToken {
  /** The id, which starts with `svc_`; not a secret. */
  id: string;
  /** A label for people. */
  name: string;
  /** The bearer value, `srv_…`. Only its digest is stored, so it cannot be returned again. */
  token: string;
  /** When the token was created. */
  createdAt: number;
}
/** The request for credits to which the message was added. */
export interface CreditRequestResponse {
  /** The id, which starts with `crq_`. */
  id: string;
  /** Always `open`. */
  status: 'open';
  /** Whether the message was added to an existing open request. */
  appended: boolean;
  /** The recipients of the request. */
  routedTo: 'owners';
}
/** The parameters of `deleteAgent`. */
export interface DeleteAgentParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteAgentResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** Confirms that the call succeeded. */
export interface DeleteAuditStreamResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
}
/** The parameters of `deleteAutomation`. */
export interface DeleteAutomationParameters {
  /** The id of the automation. */
  automationId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteAutomationResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteBudget`. */
export interface DeleteBudgetParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  budgetId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteBudgetResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteIdentityProvider`. */
export interface DeleteIdentityProviderParameters {
  /** The id of the provider. */
  providerId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteIdentityProviderResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteInboundHook`. */
export interface DeleteInboundHookParameters {
  /** The id of the hook. */
  hookId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteInboundHookResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteIssueComment`. */
export interface DeleteIssueCommentParameters {
  /** The id of the comment. */
  issueCommentId: string;
}
/** The parameters of `deleteMcpBinding`. */
export interface DeleteMcpBindingParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
  serverName: string;
}
/** The parameters of `deleteMembership`. */
export interface DeleteMembershipParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
  /** An unknown id, or an id of another organization, returns 404. */
  userId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteMembershipResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
}
/** The parameters of `deleteMissionView`. */
export interface DeleteMissionViewParameters {
  /** The id of the view. */
  viewId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteMissionViewResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteProject`. */
export interface DeleteProjectParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteProjectResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteSandboxTemplate`. */
export interface DeleteSandboxTemplateParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  templateId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteSandboxTemplateResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteScheduledTask`. */
export interface DeleteScheduledTaskParameters {
  /** The id of the scheduled task. */
  id: string;
}
/** Confirms that the call succeeded. */
export interface DeleteScheduledTaskResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteSecret`. */
export interface DeleteSecretParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  secretId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteSecretResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteSignInDomain`. */
export interface DeleteSignInDomainParameters {
  /** The id of the domain. */
  domainId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteSignInDomainResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `deleteWebhookEndpoint`. */
export interface DeleteWebhookEndpointParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** Confirms that the call succeeded. */
export interface DeleteWebhookEndpointResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `destroyEnvironment`. */
export interface DestroyEnvironmentParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  environmentId: string;
}
/** Confirms that the environment is to be destroyed. */
export interface DestroyEnvironmentResponse {
  /** Confirms the request, even when the environment was already destroyed. */
  ok: true;
  /** The id of the environment; starts with `env_`. */
  environmentId: string;
}
/** A group that the identity provider of the organization maintains. */
export interface DirectoryGroup {
  /** The id, which starts with `scg_`: the id of the group at the SCIM endpoint. */
  id: string;
  /** Name of the group at the identity provider. */
  displayName: string;
  /** Id of the group at the identity provider; null when the provider sends none. */
  externalId: string | null;
  /** The role that the group gives to its members; null when it gives none. */
  role: 'admin' | 'member' | 'viewer' | null;
  /** When the identity provider created the group. */
  createdAt: number;
  /** When the group was last changed. */
  updatedAt: number;
  /** Number of users in the group, including inactive ones. */
  memberCount: number;
}
/** The groups of a directory. */
export interface DirectoryGroups {
  /** The groups by name: at most 1000. */
  data: DirectoryGroup[];
}
/** A token with which the identity provider of the organization provisions users and groups (SCIM 2.0). */
export interface DirectoryToken {
  /** The id, which starts with `sct_`; not a secret. */
  id: string;
  /** A label for people; several tokens may have the same. */
  name: string;
  /** When the token was created. */
  createdAt: number;
  /** When the token expires or expired. */
  expiresAt: number;
  /** The last use, accurate to the minute; null when it was never used. */
  lastUsedAt: number | null;
  /** When the token was revoked; null if it was not. */
  revokedAt: number | null;
}
/** The directory tokens of an organization. */
export interface DirectoryTokens {
  /** The active tokens, then the revoked ones, each group newest first: at most 50. */
  data: DirectoryToken[];
}
/** A user that the identity provider of the organization maintains. */
export interface DirectoryUser {
  /** The id, which starts with `scu_`: the id of the user at the SCIM endpoint. */
  id: string;
  /** Name of the user at the identity provider. */
  userName: string;
  /** Id of the user at the identity provider; null when the provider sends none. */
  externalId: string | null;
  /** The email address, which identifies the account of the person. */
  email: string;
  /** The name at the identity provider; the account of the person keeps its own. */
  displayName: string | null;
  /** Whether the person may be a member, according to the identity provider. */
  active: boolean;
  /** Whether the person belongs to the organization. */
  state: 'member' | 'waiting' | 'removed' | 'inactive';
  /** When the identity provider created the user. */
  createdAt: number;
  /** When the identity provider last changed the user. */
  updatedAt: number;
}
/** One page of a list of DirectoryUser records. */
export interface DirectoryUserPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: DirectoryUser[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `directoryUsers`. */
export interface DirectoryUsersParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Only users whose address or user name contains this text, without regard to case. */
  query?: string;
}
/** The parameters of `disconnectIntegration`. */
export interface DisconnectIntegrationParameters {
  /** An integration of the organization. */
  integrationId: string;
  /** Whether projects that use the connector may lose it as their tracker or source host. */
  detachProjects?: boolean;
}
/** Confirms that the call succeeded. */
export interface DisconnectIntegrationResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `dismissInboundDelivery`. */
export interface DismissInboundDeliveryParameters {
  /** The id of the hook. */
  hookId: string;
  /** The id of the delivery. */
  deliveryId: string;
}
/** The parameters of `dismissNotice`. */
export interface DismissNoticeParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  noticeId: string;
}
/** The parameters of `drainRuntime`. */
export interface DrainRuntimeParameters {
  /** The `tokenId` of the runtime. */
  runtimeTokenId: string;
  /** The `name` of the runtime. */
  name: string;
  /** True tells the runtime to drain, false to take missions again. */
  isDraining?: boolean;
}
/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export interface EffectPolicy {
  /**
   * Kinds of outside effects that wait for approval.
   *
   * Items: The kind of an action that a mission performs in another system.
   */
  waits: ('push' | 'pull_request' | 'comment' | 'tracker' | 'mcp_call')[];
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools: string[];
}
/** The parameters of `endAgentTrial`. */
export interface EndAgentTrialParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
  /** Whether all missions of the agent use the settings of the trial from now on. */
  promote: boolean;
}
/** The offer for larger organizations, agreed with the operator of the service. */
export interface EnterpriseOffer {
  /** The URL at which to ask for this plan; null when the operator has set none. */
  contactUrl: string | null;
  /** Summary of the offer, in one sentence. */
  blurb: string;
}
/** A deployment that shows a change before it is merged. */
export interface Environment {
  /** The id, which starts with `env_`. */
  environmentId: string;
  /** The project whose change the environment runs. */
  projectId: string;
  /** The environment shows a change that a mission has made. This is the id of the mission’s issue in the tracker. */
  issueId: string | null;
  /** The pull request of the change. */
  prNumber: number | null;
  /** The name of the deployment at the platform that runs it. */
  workerName: string | null;
  /** Status of the environment; `destroying` and `failed` can follow at any time. */
  status: 'provisioning' | 'active' | 'destroying' | 'destroyed' | 'failed';
  /** When the runtime registered the environment. */
  createdAt: number;
  /** When the environment is destroyed automatically; null means never. */
  expiresAt: number | null;
  /** When the environment was destroyed; null until then. */
  destroyedAt: number | null;
}
/** A preview environment, as REST returns it. */
export interface EnvironmentDetail {
  environment: Environment;
}
/** One page of a list of Environment records. */
export interface EnvironmentPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Environment[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `environment`. */
export interface EnvironmentParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  environmentId: string;
}
/** The parameters of `environments`. */
export interface EnvironmentsParameters {
  /** Only records with this value in the field of the same name. */
  issueId?: string;
  /** Only records with this value in the field of the same name. */
  projectId?: string;
  /** Only environments in this status; absent means all. */
  status?: 'provisioning' | 'active' | 'destroying' | 'destroyed' | 'failed';
  /** Rows per page: 1 to 500. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `erasePerson`. */
export interface ErasePersonParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
  /** The id of the person, or the email address of an invite. */
  person: string;
}
/** An error: a text for people and a code for programs. */
export interface ErrorBody {
  /** The area of the problem, for programs that handle whole areas. */
  category: 'auth' | 'rate_limit' | 'timeout' | 'validation' | 'infrastructure' | 'agent' | 'unknown';
  /** A short name, the same for every problem with this code. */
  title: string;
  /** A text that names each invalid field and its requirement. */
  description: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** A stable code, which programs should test. /reference/errors explains each. */
  code?: string;
  /** Id of the project that already uses the repository; present only in that conflict. */
  conflictingProjectId?: string;
}
/** The result of applying a rule to an event that has already arrived. The preview starts no mission. */
export interface EventTriggerPreview {
  /** Reason why the event does not match the rule; null when it matches. A matching event starts a mission if its author is allowed to start one. */
  reason: string | null;
  /** The deduplication key: only the first of several events with equal keys counts; null when every event counts. */
  key: string | null;
  /** The text for the agent; null when the event does not match. Without a template, the issue is read again when a mission starts. */
  text: string | null;
}
/** The results of applying a rule to events that have already arrived. The preview starts no missions. */
export interface EventTriggerPreviews {
  /** At most 5 deliveries, newest first. */
  data: EventTriggerPreview[];
}
/** The parameters of `events`. */
export interface EventsParameters {
  /** The number of the last event that you know: the response has the events after it. 0 begins with the oldest event. Without a number, the feed begins with the next event. */
  after?: number;
  /**
   * At most 50 types, separated by commas: `run.completed`, or `run.*` for all types of a noun. Without it, all events.
   *
   * @maxItems 50
   */
  types?: string[];
  /** Only events of this project and of its records. */
  projectId?: string;
  /** Maximum number of events in the response. A stream has no end and ignores this parameter. */
  limit?: number;
  /** Seconds to wait for an event if there is none yet. A stream ignores this parameter. */
  wait?: number;
}
/** A change of a record, without its actor and its values. */
export interface FeedEvent {
  /** The version of this record. Members may be added to it; existing members do not change. */
  version: 1;
  /** The position in the log of the organization. A later number never appears before an earlier one. */
  number: number;
  /** The type of the event, as `noun.verb`: `run.completed`, `member.removed`. */
  type: string;
  /** When the transaction of the change began, in epoch milliseconds. */
  occurredAt: number;
  /** The project of the record; null for a record of the organization. */
  projectId: string | null;
  /** The mission that the record belongs to; for a mission, its own id. Null for a record that belongs to no mission. */
  runId: string | null;
  subject: FeedSubject;
  /** The URL of the full audit event, which also states who made the change, with which credential, and the values before and after the change. */
  url: string;
}
/** The record that was changed. */
export interface FeedSubject {
  /** The noun of the type. */
  type: string;
  /** The id of the record. If several values identify it, they are joined by colons. */
  id: string;
}
/** Events after a number, oldest first. */
export interface FeedPage {
  /** The events that match. */
  data: FeedEvent[];
  /** The number to send as `after` for the next page, even if no event matches. */
  lastNumber: number;
  /** Whether the log has further events after `lastNumber`. Further events might not match the filter. */
  hasMore: boolean;
}
/** The parameters of `followRun`. */
export interface FollowRunParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `forkMission`. */
export interface ForkMissionParameters {
  /** The recorded run, which must have ended. */
  runId: string;
}
/** The body of `POST /runs/{runId}/fork`. */
export interface ForkMissionRequest {
  /** The step of the call. */
  stepId: string;
  /** Number, within the step, of the model call from which the new mission continues: the first call that is sent to a model and not answered from the recording. `recordedModelCalls` and the download of the recording contain these numbers. */
  call: number;
  /** The message that the agent gets at the chosen call. Absent means that the agent is asked to continue. */
  prompt?: string | null;
  /** The model for the chosen call and later ones. The harness of the step must support it. Absent means the model of the agent. */
  model?: string | null;
  /** The version of the agent for the chosen call and later ones. It must have the same harness; its instructions, model, effort and skills apply. Absent means the version of the recorded step. */
  agentVersion?: number | null;
  /** Budget of the mission in US dollars, 0.01 to 10,000; absent means the budget of the recorded mission. */
  budgetUsd?: number | null;
}
/** A person who has left an organization. */
export interface FormerMember {
  /** The id of the person. */
  userId: string;
  /** The present name; null after the erasure. */
  name: string | null;
  /** The present email address; null after the erasure. */
  email: string | null;
  /** When the membership ended. */
  removedAt: number;
  /** When the organization erased the person; null before. */
  erasedAt: number | null;
}
/** People who have left an organization. */
export interface FormerMemberList {
  /** At most 200, most recently removed first. */
  people: FormerMember[];
}
/** The parameters of `formerMembers`. */
export interface FormerMembersParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** The parameters of `handOverRun`. */
export interface HandOverRunParameters {
  /** The id of the run. */
  runId: string;
  /** The id of a member of the organization who may run missions; starts with `usr_`. */
  userId: string;
}
/** A comment at the source host. */
export interface HostComment {
  /** The login of the author at the host. */
  author: string;
  /** The text: its first 4000 characters. */
  body: string;
  /** When it was written. */
  createdAt: number;
}
/** A thread of comments on lines of the change at the source host, as it was when the pull request was last read. */
export interface HostThread {
  /** The host’s id of the thread. */
  key: string;
  /** The URL of the web page that shows the first comment of the thread. */
  url: string;
  /** The path of the file in the repository. */
  path: string;
  /** The version of the file to which the lines of the thread belong. */
  side: 'old' | 'new';
  /** The number of the first line of the thread, counted from 1; null when the newest commit does not contain the lines of the thread. */
  startLine: number | null;
  /** The number of the last line of the thread; null when the newest commit does not contain the lines of the thread. */
  line: number | null;
  /** Whether the thread is resolved. */
  isResolved: boolean;
  /** The login of the person who resolved the thread; null while the thread is not resolved, and when the host does not name the person. */
  resolvedBy: string | null;
  /** The review comment of this service that began the thread; null for a thread that began at the host. */
  commentId: string | null;
  /** The comments, oldest first: at most 20. */
  comments: HostComment[];
}
/** An identity provider of the organization, which signs in people with addresses of its domains. */
export interface IdentityProvider {
  /** The id, which starts with `idp_`. */
  id: string;
  /** The organization of the provider. */
  orgId: string;
  /** The name on the sign-in page, 1 to 120 characters. */
  name: string;
  /** The protocol. */
  protocol: 'oidc' | 'saml';
  /** The issuer of an OpenID provider, or the entity id of a SAML provider. */
  issuer: string;
  /** The client id at an OpenID provider; empty for SAML. */
  clientId: string;
  /** The sign-in URL of a SAML provider; null for OpenID Connect. */
  signInUrl: string | null;
  /** The URL from which the metadata of a SAML provider is read every day; null when there is none. */
  metadataUrl: string | null;
  /** When the metadata of a SAML provider was last read; null for OpenID Connect. */
  metadataReadAt: number | null;
  /** The time since which the metadata of a SAML provider cannot be read, or describes another provider or sign-in URL; null while it can be used. */
  metadataFailingSince: number | null;
  /** The URL to enter at the provider: the redirect URI, or for SAML the assertion consumer service URL. */
  returnAddress: string;
  /** The entity id of the service for a SAML provider, which is also the URL of the service’s metadata; null for OpenID Connect. */
  entityId: string | null;
  /** The role of people whose first sign-in makes them members; null when only members and invited people may sign in. */
  defaultRole: 'owner' | 'admin' | 'member' | 'viewer' | null;
  /** When a test sign-in last succeeded; null for a provider that is not offered yet. */
  testedAt: number | null;
  /** The person who connected the provider; null once the account is deleted. */
  createdByUserId: string | null;
  /** When the provider was connected. */
  createdAt: number;
  /** When the provider was last changed. */
  updatedAt: number;
}
/** The identity providers of an organization. */
export interface IdentityProviderList {
  /** The providers, newest first. */
  providers: IdentityProvider[];
}
/** The parameters of `inboundDeliveries`. */
export interface InboundDeliveriesParameters {
  /** The id of the hook. */
  hookId: string;
  /** Only deliveries in this state. */
  status?: 'received' | 'started' | 'waiting' | 'ignored' | 'failed';
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** An event that arrived at a hook, kept for 30 days. */
export interface InboundDelivery {
  /** The id, which starts with `dlv_`. */
  id: string;
  /** The organization of the delivery. */
  orgId: string;
  /** The hook. */
  hookId: string;
  /** The sender’s id of the event: deliveries with the same id are processed once. */
  externalId: string;
  /** The name that the sender uses for this kind of event, such as `issues.labeled`. */
  event: string;
  /** The event in one line; null until it is processed. */
  title: string | null;
  /** The state of the delivery. */
  status: 'received' | 'started' | 'waiting' | 'ignored' | 'failed';
  /** Reason why the event has started nothing. If the event continued the mission of a pull request, or started a mission because an issue was assigned to an agent, the text instead names the run of the mission. Null in all other cases. */
  reason: string | null;
  /** The effects of the event on scheduled tasks and automations. */
  outcomes: InboundOutcome[];
  /** Reasons why a reaction or comment could not be added at the source host, or an activity could not be added to the session of the agent. The mission continues nevertheless. Empty if there was no such problem. */
  answerProblems: string[];
  /** The delivery that a person repeated with this one; null otherwise. */
  redeliveryOf: string | null;
  /** When the event arrived. */
  receivedAt: number;
  /** When the event was processed; null before. */
  processedAt: number | null;
}
/** The effect of an event on one scheduled task or automation with a matching rule. */
export interface InboundOutcome {
  /** The id of the scheduled task or automation. */
  recurringId: string;
  /** The name of the scheduled task or automation when the event was processed. */
  name: string;
  /** The effect of the event. */
  result: 'started' | 'waiting' | 'ignored' | 'later';
  /** Reason why no mission was started; null otherwise. */
  reason: string | null;
  /** The run that was started; null otherwise. */
  runId: string | null;
}
/** One page of a list of InboundDelivery records. */
export interface InboundDeliveryPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: InboundDelivery[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `inboundDelivery`. */
export interface InboundDeliveryParameters {
  /** The id of the hook. */
  hookId: string;
  /** The id of the delivery. */
  deliveryId: string;
}
/** A URL to which another system sends signed events. */
export interface InboundHook {
  /** The id, which starts with `hok_`. */
  id: string;
  /** The organization of the hook. */
  orgId: string;
  /** The name, 1 to 120 characters. */
  name: string;
  /** The system whose events the hook understands. */
  vendor: 'linear' | 'github' | 'gitlab' | 'slack' | 'builtin' | 'webhook';
  /** How the sender signs events. */
  signature: 'linear' | 'github' | 'gitlab' | 'slack' | 'standard' | 'header';
  /** The header with the signature; null unless `signature` is `header`. */
  signatureHeader: string | null;
  /** The URL to which the sender sends its events. A person enters the URL in the settings of the sender. The hook of the built-in tracker accepts no requests. */
  address: string;
  /** Whether events of the hook start missions; a disabled hook still stores its events. */
  enabled: boolean;
  /** The person who created the hook; null when a program created it, and once the account is deleted. */
  createdByUserId: string | null;
  /** When the last event with a valid signature arrived; null before the first. */
  lastDeliveryAt: number | null;
  /** When the hook was created. */
  createdAt: number;
  /** When the hook was last changed. */
  updatedAt: number;
}
/** One page of a list of InboundHook records. */
export interface InboundHookPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: InboundHook[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `inboundHook`. */
export interface InboundHookParameters {
  /** The id of the hook. */
  hookId: string;
}
/** A hook with its secret, which is shown only once. */
export interface InboundHookWithSecret {
  hook: InboundHook;
  /** The secret with which the sender signs its events. A person enters the secret in the settings of the sender. */
  secret: string;
}
/** The parameters of `inboundHooks`. */
export interface InboundHooksParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The size of the inbox. */
export interface InboxCount {
  /** The number of items; 100 means 100 or more. */
  count: number;
}
/** The parameters of `inboxCount`. */
export interface InboxCountParameters {
  /** True lists only items of missions that are yours or that you follow, and items that belong to nobody. */
  mine?: boolean;
}
/** Something that waits for a person to act. Once somebody has dealt with it, it disappears from all inboxes. */
export interface InboxItem {
  /** The id, which consists of the kind and the id of the waiting record: `approval-run_…`. */
  id: string;
  /** The action that the item needs from a person. */
  kind:
    | 'approval'
    | 'answer'
    | 'decision'
    | 'budget'
    | 'limit'
    | 'spending'
    | 'event'
    | 'attempts'
    | 'review'
    | 'effects'
    | 'failure';
  /** Whether a mission is blocked until a person acts. */
  isUrgent: boolean;
  /** When the item began to wait. */
  since: number;
  /** The title of the mission or event; for a limit, a sentence that describes it. Null for an untitled mission. */
  title: string | null;
  /** The plan, the question, or the reason why the item waits; null without one. */
  detail: string | null;
  /** The question of an `answer` or a `decision`; null for other kinds. */
  question: RunQuestion | null;
  /** The project; null for an event. */
  projectId: string | null;
  /** The person to whom the mission is charged; null for an item that belongs to nobody. */
  userId: string | null;
  /** The id of the run that the item is about. If several missions wait for the same limit, this is the run that has waited longest. Null for an event. */
  runId: string | null;
  /** The inbound hook that received the event; null unless the item is an event. */
  hookId: string | null;
  /** The delivery that brought the event; null unless the item is an event. */
  deliveryId: string | null;
  /** When the item returns, if you have snoozed it; null otherwise. */
  hiddenUntil: number | null;
  /** Whether you have marked the item as done: it is hidden until something new happens to it. */
  isDone: boolean;
}
/** A question of a run’s agent that waits for an answer. */
export interface RunQuestion {
  /** The sandbox whose agent asks, an argument of `answerElicitation`. */
  sandboxId: string;
  /** The position of the question among the fragments of the sandbox. Pass this position to `answerElicitation`. */
  seq: number;
  /** The question. */
  text: string;
  /** Answers that the question suggests; null for none. Any other text is allowed too. */
  choices: string[] | null;
  /** The tool whose call needs approval, as `server.tool`; null for a question that is not about a call. */
  tool: string | null;
  /** The arguments of the call as JSON; null for a question that is not about a call. */
  arguments: string | null;
  /** When the question was asked. */
  at: number;
}
/** One page of a list of InboxItem records. */
export interface InboxPage {
  /** Urgent items first, then the oldest. */
  data: InboxItem[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `inbox`. */
export interface InboxParameters {
  /** True lists only items of missions that are yours or that you follow, and items that belong to nobody. */
  mine?: boolean;
  /** If true, the list has only the items that you have marked as done or snoozed and that still wait for somebody to act. */
  hidden?: boolean;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** A tracker, a source host or a language model that projects connect to. */
export interface Integration {
  /** The id, which starts with `int_`. */
  id: string;
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The external service. */
  vendor: 'linear' | 'github' | 'gitlab' | 'builtin' | 'anthropic' | 'openai' | 'slack';
  /** The kind of the connector, which decides how projects use it. */
  vendorKind: 'tracker' | 'scm' | 'llm' | 'chat';
  /** The organization, workspace or account at the vendor; null when unknown. */
  externalOrgId: string | null;
  /** Name for people; programs use the id. */
  displayName: string;
  /** When the integration was connected. */
  createdAt: number;
  /** When the credentials were last replaced. */
  updatedAt: number;
  /** Number of projects that use the integration. */
  dependentProjectCount: number;
}
/** The integrations of the organization. */
export interface IntegrationList {
  /** The integrations, oldest first. */
  integrations: Integration[];
}
/** The parameters of `interruptRun`. */
export interface InterruptRunParameters {
  /** The id of the run. */
  runId: string;
}
/** An invitation to join the organization, sent to an email address. */
export interface Invite {
  /** The id, which starts with `inv_`. */
  id: string;
  /** The email address. Only the account with this address can accept the invite. */
  email: string;
  /** The role of the person after accepting. */
  role: 'owner' | 'admin' | 'member' | 'viewer';
  /** The organization that the person is invited to. */
  orgId: string;
  /** Status of the invite: only a pending one can be accepted or revoked. */
  status: 'pending' | 'accepted' | 'revoked' | 'expired';
  /** The person who created the invite; null when no person did, or the account was deleted. */
  invitedByUserId: string | null;
  /** When the invite expires, in epoch seconds: seven days after its creation. An expired invite cannot be accepted. */
  expiresAtSec: number;
  /** When the invite was created. */
  createdAt: number;
}
/** All invites of the organization, with any status. */
export interface InviteList {
  /** The invites, newest first. */
  invites: Invite[];
}
/** An issue of the built-in tracker. */
export interface Issue {
  /** The id, which starts with `iss_`. */
  id: string;
  /** The id of the project; starts with `prj_`. */
  projectId: string;
  /** Consecutive number within the project. */
  number: number;
  /** The issue code of the project and the number, such as WEB-12. */
  key: string;
  /** The title in one line, at most 200 characters. */
  title: string;
  /** The task in Markdown. */
  body: string;
  /** The labels, at most 20. */
  labels: string[];
  /** Whether work on the issue is finished. */
  state: 'open' | 'closed';
  /** The agent to which the issue is assigned; null while it is assigned to a person or nobody. */
  agentId: string | null;
  /** The person to whom the issue is assigned; null while it is assigned to an agent or nobody. */
  assigneeUserId: string | null;
  /** Name of the agent or person to whom the issue is assigned; null without one, and for a deleted agent. */
  assigneeName: string | null;
  /** The person who wrote the issue; null for the issue of a mission, and once the account is deleted. */
  createdByUserId: string | null;
  /** The run that the issue was created for; null for an issue that a person wrote. */
  runId: string | null;
  /** When the issue was created. */
  createdAt: number;
  /** When the issue was last changed. */
  updatedAt: number;
}
/** A comment on an issue of the built-in tracker. */
export interface IssueComment {
  /** The id, which starts with `icm_`. */
  id: string;
  /** The issue. */
  issueId: string;
  /** The project of the issue. */
  projectId: string;
  /** The person who wrote the comment; null for the comment of a mission, and once the account is deleted. */
  authorUserId: string | null;
  /** Name of the author when the comment was written. */
  author: string;
  /** The first run of the mission that keeps this comment up to date; null for a person’s comment. */
  runId: string | null;
  /** The text in Markdown, at most 8000 characters. */
  body: string;
  /** Explanation of the comment’s effect on a mission; null for a comment that concerns no mission. */
  effect: string | null;
  /** When the comment was written. */
  createdAt: number;
  /** When the text was last changed; equal to `createdAt` before the first change. */
  updatedAt: number;
}
/** One page of a list of IssueComment records. */
export interface IssueCommentPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: IssueComment[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `issueComments`. */
export interface IssueCommentsParameters {
  /** The id of the issue. */
  issueId: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Order of the list, newest first when absent. A cursor is valid for one order only. */
  order?: 'oldest' | 'newest';
}
/** One page of a list of Issue records. */
export interface IssuePage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Issue[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `issue`. */
export interface IssueParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  issueId: string;
}
/** The parameters of `issues`. */
export interface IssuesParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Order of the list, newest first when absent. A cursor is valid for one order only. */
  order?: 'oldest' | 'newest';
  /** Only records with this value in the field of the same name. */
  projectId?: string;
  /** Only issues in this state. */
  state?: 'open' | 'closed';
  /** Only issues that are assigned to this agent. */
  agentId?: string;
}
/** The parameters of `killSandbox`. */
export interface KillSandboxParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  sandboxId: string;
}
/** Confirms that the sandbox has been killed. */
export interface KillSandboxResponse {
  /** Confirms the kill, even of a sandbox that was already destroyed. */
  ok: true;
  /** The id of the sandbox; starts with `sbx_`. */
  sandboxId: string;
}
/** One change of the credits that an organization owns. */
export interface LedgerEntry {
  /** The id, which starts with `crt_`. */
  id: string;
  /** Reason for the change. */
  kind: 'grant' | 'purchase' | 'spend' | 'refund' | 'withdrawal' | 'expiry';
  /** The signed change, to a millionth of a credit. */
  credits: number;
  /** The amount owned by the organization after this entry, to a millionth of a credit. */
  balanceAfter: number;
  /** The mission that caused the change; null for none. */
  runId: string | null;
  /** The order that caused the change; null for none. */
  orderId: string | null;
  /** Explanation of the change for people; null without one. */
  note: string | null;
  /** When the change was booked. */
  createdAt: number;
}
/** The parameters of `linkAccount`. */
export interface LinkAccountParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
  /** A member of the organization. */
  userId: string;
  /** A connector of the source host. */
  integrationId: string;
  /** The login of the account, without `@`. */
  login: string;
}
/** A page of the ledger. */
export interface ListLedgerResponse {
  /** The changes, newest first. */
  entries: LedgerEntry[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The notices of an organization for one caller. */
export interface ListNoticesResponse {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The notices that the caller has not dismissed; the most urgent first. */
  notices: Notice[];
}
/** Informs people about a fact, or asks them to act. A notice exists as long as its cause. */
export interface Notice {
  /** The id, derived from the cause: `token_expiring:tok_…:7`. A new cause has another id. */
  id: string;
  /** The urgency of the notice. */
  kind: 'info' | 'warning' | 'action';
  /** The notice in one sentence. */
  title: string;
  /** The details, and the necessary action. */
  body: string;
  /** The page of the console for the necessary action; null when there is none. */
  actionUrl: string | null;
  /** When the cause of the notice began. If missions have used most of the daily cost cap, this is the beginning of the UTC day. If credits are low, it is the time when they last changed. If a recurring mission keeps failing, it is the time when its latest failed run was created. */
  createdAt: number;
}
/** The offers and their prices. */
export interface ListOffersResponse {
  /** The currency of all prices. */
  currency: 'USD';
  /** Credits of a new organization. */
  trialCredits: number;
  /** Packs of credits. */
  offers: BillingOffer[];
  /** The price of a credit without a discount, US dollars. */
  referencePerCreditUsd: number;
  team: TeamPlanOffer;
  enterprise: EnterpriseOffer;
  limits: OfferLimits;
}
/** The team plans. */
export interface TeamPlanOffer {
  /** Team plans, the smallest first. */
  plans: TeamPlan[];
}
/** A plan that is paid by the month. */
export interface TeamPlan {
  /** The value for `teamPlan` of a checkout session. */
  plan: 'team-5' | 'team-20';
  /** Name for people, in English. */
  name: string;
  /** The price of a month in US dollars. */
  monthlyUsd: number;
  /** Credits of one month; unused ones expire when the period ends. */
  creditsPerMonth: number;
  /** Number of projects; null means unlimited. */
  projects: number | null;
  /** Maximum number of open missions. */
  agentsAtOnce: number | null;
}
/** The limits without a team plan. */
export interface OfferLimits {
  free: PlanLimits;
  packs: PlanLimits;
}
/** The limits of a plan. */
export interface PlanLimits {
  /** Number of projects; null means unlimited. */
  projects: number | null;
  /** Maximum number of open missions. */
  agentsAtOnce: number | null;
}
/** The orders of an organization. */
export interface ListOrdersResponse {
  /** The newest 200 orders, newest first. */
  orders: BillingOrder[];
}
/** The parameters of `markInboxItemDone`. */
export interface MarkInboxItemDoneParameters {
  /** The id of the item. */
  itemId: string;
  /** When the item returns: within the next 90 days. Absent means when something new happens to it. */
  until?: number;
}
/** A tool that a person has approved. */
export interface McpApprovedTool {
  /** The server’s name for the tool. */
  name: string;
  /** Whether a person attests that the tool is read-only. */
  attestedReadOnly: boolean;
}
/** The binding of a declared server to its project. It says which roles may use which tools of the server. */
export interface McpBinding {
  /** The transport, as declared when the server was bound. */
  transport: 'remote' | 'sandbox';
  /** Status of the binding, derived from its declaration and its tools at the time of the read. */
  status: 'ready' | 'needs_auth' | 'needs_review' | 'error' | 'disabled';
  /** The action that a person must take; null when none is needed. */
  statusDetail: string | null;
  /**
   * The roles whose agents may use the server.
   *
   * Items: Role of an agent in a mission.
   */
  roles: ('planner' | 'builder' | 'reviewer' | 'qa' | 'researcher')[];
  /** The authentication method, which follows from the declaration and the credentials. */
  authKind: 'none' | 'bearer' | 'headers' | 'oauth';
  /** The URL of the server at the time of binding; requests go to no other URL. */
  pinnedUrl: string | null;
  /** The package at the time of binding, as `name@version`; null for a server without a package. */
  packageSpec: string | null;
  /** Hosts that may get requests in addition to the host of `pinnedUrl`. */
  allowedEgressHosts: string[];
  /** Names of the credentials that the binding has. */
  credentialFields: string[];
  /** The tools as they were last read from the server. */
  toolSnapshot: McpTool[];
  /** The tools that agents may use; no other tools are offered. */
  approvedTools: McpApprovedTool[];
  /** When the tools were last read from the server; null means never. */
  toolsRefreshedAt: number | null;
  effectiveToolCounts: McpToolCounts;
  /** When the server was bound. */
  createdAt: number;
  /** When a person last changed the binding. */
  updatedAt: number;
}
/** A tool as its server described it last. The hints are the server’s own claims. */
export interface McpTool {
  /** Name for calls by agents; unique on its server. */
  name: string;
  /** The display name; null when the tool has none. */
  title: string | null;
  /** The server’s description of the tool; null without one. */
  description: string | null;
  /** Whether the tool claims to change nothing. */
  readOnlyHint: boolean;
  /** Whether the tool may destroy data. False if the server says that the tool changes nothing or destroys nothing; otherwise true. */
  destructiveHint: boolean;
}
/** For each role, the number of tools that are approved for its agents and have not changed since. */
export interface McpToolCounts {
  /** Number of tools for an agent in the role planner. */
  planner: number;
  /** Number of tools for an agent in the role builder. */
  builder: number;
  /** Number of tools for an agent in the role reviewer. */
  reviewer: number;
  /** Number of tools for an agent in the role qa. */
  qa: number;
}
/** The MCP servers that are bound to projects. Only projects that the caller may see are included. */
export interface McpBindingList {
  /** The bindings, ordered by the name of the project. */
  bindings: McpBindingListItem[];
}
/** An MCP server that is bound to a project, as shown in lists. */
export interface McpBindingListItem {
  /** The project that the server is bound to. */
  projectId: string;
  /** The name of the project that the server is bound to. */
  projectName: string;
  /** Name of the server in the config file. */
  serverName: string;
  /** The transport, as declared when the server was bound. */
  transport: 'remote' | 'sandbox';
  /** Status of the binding, derived from its declaration and its tools at the time of the read. */
  status: 'ready' | 'needs_auth' | 'needs_review' | 'error' | 'disabled';
  /** The action that a person must take; null when none is needed. */
  statusDetail: string | null;
  /**
   * The roles whose agents may use the server.
   *
   * Items: Role of an agent in a mission.
   */
  roles: ('planner' | 'builder' | 'reviewer' | 'qa' | 'researcher')[];
  /** The authentication method, which follows from the declaration and the credentials. */
  authKind: 'none' | 'bearer' | 'headers' | 'oauth';
  /** Names of the credentials that the binding has. */
  credentialFields: string[];
  /** When a person last changed the binding. */
  updatedAt: number;
}
/** A server as the config file declares it. Values of headers and variables are never shown. */
export interface McpDeclared {
  /** The name of the server, unique in the config file. */
  name: string;
  /** The transport: `http` for a server with a URL, `stdio` for a command. */
  transport: 'http' | 'stdio';
  /** Scheme, host and port; null for a command. */
  origin: string | null;
  /** Path of the URL; null for a command. */
  path: string | null;
  /** The command of the server; null for an http server. */
  command: string | null;
  /** Arguments of the command; text that looks like a secret is hidden. */
  displayArgs: string[];
  /** Names of the headers that are sent to the server. */
  headerNames: string[];
  /** Names of environment variables. */
  envNames: string[];
  /** Names of the secrets that the server needs. */
  secretRefs: string[];
  isolation: McpIsolation;
}
/** Where a declared server may run, if at all. */
export interface McpIsolation {
  /** Where the server runs; `refused` if it must not run. Derived from its transport and its command. */
  kind: 'remote' | 'sandbox' | 'refused';
  /** The pinned package, `name@version`. */
  packageSpec: string | null;
  /** The reason for a refusal; null otherwise. */
  reason: 'python' | 'unpinned' | 'shell' | 'unknown-command' | null;
}
/** The binding and its credentials were deleted. */
export interface McpDeleteResponse {
  /** Always true, because the request fails with 404 when there is no binding to delete. */
  deleted: true;
}
/** The server that was connected. */
export interface McpOAuthCompleteResponse {
  /** The project of the server. */
  projectId: string;
  /** Name of the server in the config file. */
  serverName: string;
  /** The path of the console that was given to `startMcpOAuth`. */
  returnTo: string;
}
/** The page on which the person signs in to the server. */
export interface McpOAuthStartResponse {
  /** URL to open in the browser of the person. */
  authorizeUrl: string;
  /** The time until which the person can finish signing in. */
  expiresAt: number;
}
/** The present definition of a tool, and its last approved one. */
export interface McpReviewedTool {
  /** The server’s name for the tool. */
  name: string;
  /** The change since the last approval. */
  change: 'new' | 'changed' | 'removed' | 'none';
  /** The digest of the definition, which changes with any part of it. Null means removed. */
  digest: string | null;
  /** The present definition, or the last definition of a removed tool; null when it was not stored. */
  tool: McpTool | null;
  /**
   * The server’s claims about the tool.
   *
   * Items: A claim of a server about its own tool.
   */
  claims: ('reads_only' | 'destroys' | 'reaches_outside')[];
  /** The definition of the tool as JSON, the first 8,000 characters; null unless the query names the tool. */
  definition: string | null;
  /** The definition that was approved; null when it was not stored, or when the query does not name the tool. */
  reviewedDefinition: string | null;
}
/** A server that is declared, bound, or both. */
export interface McpServer {
  /** The name of the server, unique in the project. */
  name: string;
  /** The declaration; null when the config file has none. */
  declared: McpDeclared | null;
  /** The binding; null when the server is not bound. */
  binding: McpBinding | null;
}
/** The tools of a bound server, compared with the approved ones. */
export interface McpToolReview {
  binding: McpBinding;
  /** The tools in the order of the server, removed ones last. */
  tools: McpReviewedTool[];
}
/** The parameters of `mcpToolReview`. */
export interface McpToolReviewParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
  serverName: string;
  /**
   * Only these tools, at most 50, with their definitions. Absent means all tools, without definitions.
   *
   * @maxItems 50
   */
  names?: string;
}
/** The caller of this request: the person it acts for, the organization, and the permitted actions. */
export interface Me {
  /** The kind of the caller. */
  principalType: 'cookie' | 'user' | 'service' | 'system' | 'agent';
  /** The person that the caller acts for; null for a service and for an unclaimed agent. */
  userId: string | null;
  /** The organization of this request; null for a caller that belongs to none. */
  orgId: string | null;
  /** The person’s present role in the organization; null for a caller that does not act for a person. */
  role: 'owner' | 'admin' | 'member' | 'viewer' | null;
  /**
   * The actions that the caller may take. A credential that is bound to a project has at most `missions.run`.
   *
   * Items: Actions that a console may offer the caller without interpreting scopes. One of: org.manage, members.manage, billing.manage, projects.manage, missions.run, tokens.create.
   */
  capabilities: (
    'org.manage' | 'members.manage' | 'billing.manage' | 'projects.manage' | 'missions.run' | 'tokens.create'
  )[];
  /** The effective scopes of the credential: its granted scopes, limited to those of the person’s present role. */
  scopes: string[];
  /** The only project that the credential reaches; null when it reaches the whole organization. */
  projectId: string | null;
}
/** A person in an organization, with one role. */
export interface Membership {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The id of the person; starts with `usr_`. */
  userId: string;
  /** The role, which determines the scopes that the member and their credentials can have. */
  role: 'owner' | 'admin' | 'member' | 'viewer';
  /** When the person joined. */
  createdAt: number;
}
/** The members of an organization. */
export interface MembershipList {
  /** The memberships, oldest first. */
  memberships: Membership[];
}
/** The parameters of `memberships`. */
export interface MembershipsParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** The parameters of `mergePullRequest`. */
export interface MergePullRequestParameters {
  /** The run. */
  runId: string;
  /** The commit that you have reviewed: the newest one of the pull request. */
  headSha: string;
}
/** The work of one agent on a run, in one role. A run has one step at a time. */
export interface MissionStep {
  /** The id, which is unique and never changes. */
  id: string;
  /** The id of the run; starts with `run_`. */
  runId: string;
  /** Position among the steps of the run, from 0. */
  seq: number;
  /** The role of the agent in the step. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The number of the builder’s attempt to which the step belongs, from 1; 0 for the planner. */
  round: number;
  /** Status of the step. */
  status: 'waiting' | 'running' | 'completed' | 'failed' | 'canceled';
  /** The name of the agent when the run began. */
  agentName: string;
  /** The id of the agent, which may be deleted by now; null for a built-in one. */
  agentId: string | null;
  /** The number of the version of the agent; null for a built-in one. */
  agentVersion: number | null;
  /** The program that drives the model of the step. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** The id of the step’s model. */
  model: string;
  /** The sandbox of the step; null before it starts. */
  sandboxId: string | null;
  /** The session of the harness; null until it is known. */
  sessionId: string | null;
  /** Result of the step: `{steps}` of a planner, `{verdict, comments}` of a reviewer, `{passed, findings}` of QA; null otherwise. */
  output: {
    [k: string]: unknown | undefined;
  };
  /** Reason why the step failed; null when it did not. */
  error: string | null;
  /** Turns of the model; null until they are known. */
  turns: number | null;
  /** Cost of the step in US dollars, the sum of its reported costs. */
  costUsd: number;
  /** Input tokens, without those read from or written to a cache. */
  inputTokens: number;
  /** Input tokens read from the vendor’s cache. */
  cachedInputTokens: number;
  /** Input tokens written to the vendor’s cache. */
  cacheWriteTokens: number;
  /** Output tokens, including those of reasoning. */
  outputTokens: number;
  /** When the step became the next one of the run. */
  createdAt: number;
  /** When a runtime began the step; null before. */
  startedAt: number | null;
  /** When the step ended; null before. */
  finishedAt: number | null;
  /** The newest checkpoint; null before the first, for scripts, and once it has expired. */
  checkpoint: Checkpoint | null;
}
/** A person’s saved view of missions. Nobody else sees it. */
export interface MissionView {
  /** The id, which starts with `viw_`. */
  id: string;
  /** The name, unique among the views of the person. */
  name: string;
  /** How the missions are shown. */
  layout: 'list' | 'board';
  /** The value by which missions are grouped. Null means no groups in a list, and groups by status on a board. */
  groupBy: 'status' | 'project' | 'agent' | 'person' | null;
  filters: MissionViewFilters;
  /** When the view was saved. */
  createdAt: number;
  /** When it last changed. */
  updatedAt: number;
}
/** The filters of a view, as arguments of `runs`. */
export interface MissionViewFilters {
  /** The words to search for; null for none. */
  search: string | null;
  /** The project; null for all. */
  projectId: string | null;
  /** The status; null for all. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled' | null;
  /** The agent; null for all. */
  agentId: string | null;
  /** The person; null for all. */
  personId: string | null;
  /** Only missions that the schedule has started, or only missions that a person has started; null for all. */
  kind: 'scheduled' | 'manual' | null;
  /** Whether only missions that the person follows are shown; null means false. */
  followed: boolean | null;
  /** Whether only missions that wait for a person to act are shown; null means false. */
  needsPerson: boolean | null;
}
/** The views of a person. */
export interface MissionViewList {
  /** The views, oldest first. */
  views: MissionView[];
}
/** The models that the orchestrator can use, by vendor. */
export interface ModelsByVendor {
  /** Models of the vendor; the first is its default. */
  anthropic: CatalogModel[];
  /** Models of the vendor; the first is its default. */
  openai: CatalogModel[];
}
/** The hosts that a phase of a mission may connect to. Addresses that are not public are never allowed. */
export interface NetworkPolicy {
  /** Set of hosts that the policy allows. */
  mode: 'none' | 'packages' | 'custom' | 'open';
  /** Hosts that a policy `custom` or `packages` adds: `host` or `*.host`, optionally followed by `:port` to allow only that port. */
  hosts: string[];
}
/** Confirms that a person no longer sees a notice. */
export interface NoticeDismissal {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The id of the notice, derived from its cause. */
  noticeId: string;
  /** When the notice was first dismissed. */
  dismissedAt: number;
}
/** The parameters of `openTerminal`. */
export interface OpenTerminalParameters {
  /** The id of a run with a step in progress. */
  runId: string;
  /** Characters per line of the window, at most 65535. The terminal uses at least 20 and at most 500. */
  width: number;
  /** Number of lines of the window, at most 65535. The terminal uses at least 5 and at most 300. */
  height: number;
}
/** Decides which agents work on an issue, within the daily cost cap of the organization. */
export interface Orchestrator {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** Name for people; programs use the id. */
  name: string;
  /** Description for display. */
  blurb: string;
  /** The id of the orchestrator’s language model. */
  model: string;
  /** The vendor of the model. */
  vendor: 'anthropic' | 'openai';
  /** The integration that holds the credentials of the model; null when none is assigned. */
  llmConnectorId: string | null;
  /** Whether the connector belongs to the model’s vendor, and the vendor accepts the connector’s credentials. To find out, the service requests the vendor’s list of models, for at most three seconds. A positive result is cached for five minutes, a negative one for one minute. */
  assignedCredentialUsableForInference: boolean;
  modelsByVendor: ModelsByVendor;
  /** The id of the model while the organization has chosen none. */
  defaultModel: string;
  /** Whether name, blurb and model have their defaults. */
  isBuiltin: boolean;
  /** Whether the orchestrator may ask its model, once per mission, which of the organization’s agents suit the task. */
  inferenceEnabled: boolean;
  /** The organization’s own cap; null means that the default applies. */
  dailyCostCapUsd: number | null;
  /** The cap while the organization has chosen none, US dollars per UTC day. */
  defaultDailyCostCapUsd: number;
  /** The cap that applies, US dollars per UTC day. */
  effectiveDailyCostCapUsd: number;
  /** Cost of missions since midnight UTC. */
  dailySpendUsd: number;
  /** Whether the cap is reached: no mission starts until midnight UTC. */
  atDailyCostCap: boolean;
  /** When the settings were last changed; null while the organization has set nothing. */
  updatedAt: number | null;
}
/** The end of an organization. It is read-only for its owners for thirty days, and then erased. */
export interface OrgClosure {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** When the organization was closed. */
  closedAt: number;
  /** The role of the person who closed the organization. */
  basis: 'owner' | 'service';
  /** The settlements so far. Credits are settled once the costs of canceled missions are booked. */
  settlements: ClosureSettlement[];
}
/** The owner of projects, credentials and credits. */
export interface Organization {
  /** The id, which starts with `org_`. */
  id: string;
  /** The name, 1 to 120 characters; not unique. */
  name: string;
  /** A unique name, which is part of console URLs. */
  slug: string;
  /** The person who created the organization and became its first owner. */
  createdByUserId: string;
  /** When the organization was created. */
  createdAt: number;
  /** Not used yet: always false, since a person chooses every name. */
  namePending: boolean;
}
/** The parameters of `organizationClosure`. */
export interface OrganizationClosureParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** The data of a closed organization: a zip archive with a file of JSON lines for each table, and `manifest.json` with the number of lines and the SHA-256 hash of each file. The archive is erased with the organization. */
export interface OrganizationExport {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** Whether the export can be downloaded. */
  status: 'preparing' | 'ready' | 'failed';
  /** When the export was requested. */
  requestedAt: number;
  /** Download URL, valid without a credential; null unless the export is ready. */
  url: string | null;
  /** Size of the archive in bytes; null unless the export is ready. */
  sizeBytes: number | null;
  /** When the URL expires, about an hour later; a repeated read returns a new URL. Null unless the export is ready. */
  expiresAt: number | null;
}
/** The parameters of `organizationExport`. */
export interface OrganizationExportParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** The organizations of the caller. */
export interface OrganizationList {
  /** The organizations, oldest first; a token sees only its own. */
  orgs: Organization[];
}
/** The parameters of `organization`. */
export interface OrganizationParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** An action of a run in another system, such as a push, which needs or needed a person’s approval. */
export interface OutsideEffect {
  /** The id, which starts with `eff_`. */
  id: string;
  /** The run; the newest one if several runs work on one branch or issue. */
  runId: string;
  /** Kind of effect. */
  kind: 'push' | 'pull_request' | 'comment' | 'tracker' | 'mcp_call';
  /** State of the effect. */
  state: 'staged' | 'approved' | 'committing' | 'committed' | 'rejected' | 'failed';
  /** Description of the effect. */
  title: string;
  /** Text that other people would read, or the arguments of a call as JSON; empty for an effect that has neither. */
  text: string;
  /** A value that changes whenever the content of the effect changes. */
  digest: string;
  /** Why the effect has failed or is tried again; null without an error. */
  error: string | null;
  /** URL of the created object; null without one. */
  resultUrl: string | null;
  /** Name of the person who decided; null before the decision, and for a canceled run. */
  decidedBy: string | null;
  /** When the effect was approved or rejected; null before. */
  decidedAt: number | null;
  /** When the effect was carried out; null before. */
  committedAt: number | null;
  /** When the effect was first staged. */
  createdAt: number;
  /** When the effect last changed. */
  updatedAt: number;
}
/** The outside effects of a run, on one page. */
export interface OutsideEffectList {
  /** The effects in their order. */
  data: OutsideEffect[];
}
/** The parameters of `outsideEffects`. */
export interface OutsideEffectsParameters {
  /** The run. */
  runId: string;
}
/** The erasure of a person by an organization. */
export interface PersonErasure {
  /** The id of the person; the audit event of the erasure contains this id in place of the name. For an email address without an account, the id exists only in this organization. */
  personId: string;
  /** When the person was erased. */
  erasedAt: number;
  /** Number of invites to the person that this call deleted. */
  invites: number;
  /** Number of missions whose recording this call deleted. */
  recordings: number;
}
/** How the runtime of a run prepared an environment for its agents. */
export interface Preparation {
  /** The id, which starts with `pre_`. */
  id: string;
  /** The id of the run. */
  runId: string;
  /** The sandbox template. */
  templateId: string;
  /** The runtime’s own id of the prepared environment. */
  key: string;
  /** The commit that the environment was prepared at; null without one. */
  commit: string | null;
  /** Status of the preparation. */
  status: 'preparing' | 'ready' | 'failed';
  /** The last lines of the setup’s log; null while there are none. */
  lastLines: string | null;
  /** Messages about parts that the runtime has left out, such as unsupported members of devcontainer.json; empty for none. */
  notes: string[];
  /** Duration in seconds: 0 when an existing environment was reused, null until the duration is known. */
  seconds: number | null;
  /** Size in bytes on the disk of the runtime; null when unknown. */
  bytes: number | null;
  /** When the preparation was first reported. */
  createdAt: number;
  /** When the preparation was last reported. */
  updatedAt: number;
}
/** The preparations of a run. */
export interface PreparationList {
  /** The preparations in the order in which they began, 50 at most. */
  data: Preparation[];
}
/** The parameters of `previewEventTrigger`. */
export interface PreviewEventTriggerParameters {
  /** The rule to try. */
  input: {
    /** The rule. */
    trigger: {
      /** Kind of event. */
      kind: 'issue' | 'comment' | 'pullRequest' | 'check' | 'session' | 'webhook';
      /** The people whose events start missions. */
      from?: 'writers' | 'members' | 'anyone';
      /** The hook whose events may match; required for `webhook`. Absent means every hook with events of this kind. */
      hookId?: string | null;
      /** The label that is added to an issue or pull request. Absent means that the rule matches opened issues and pull requests. */
      label?: string | null;
      /** The login to which an issue is assigned. */
      assignee?: string | null;
      /** The name after the `@` in a comment; required for `comment`. */
      mention?: string | null;
      /** The branch of the failed check. Absent means any. */
      branch?: string | null;
      /** A JMESPath expression that must be true for the payload of the event. */
      filter?: string | null;
      /** A JMESPath expression that yields a value of the payload. Of several events with the same value within 30 days, only the first starts a mission. */
      key?: string | null;
      /** Text for the agent, in which `{{ JMESPath }}` stands for a value of the payload. Absent means the text of the issue or event. */
      template?: string | null;
      /** The sandbox template of each mission that an event of an outsider starts. An outsider is a person who has no write access to the repository and is not a member with a linked account. The template applies even if a member has approved the event. The agents of such a mission get only the network, variables and secrets of this template. Absent means the templates of the agents and the project. */
      outsiderTemplateId?: string | null;
    };
    /** The project of the scheduled task or automation. */
    projectId?: string;
    /** The event to evaluate. Absent means the newest 5 that the rule may concern. */
    deliveryId?: string;
  };
}
/** A tracker, a repository and a language model that missions work with. */
export interface Project {
  /** The id, which starts with `prj_`. */
  id: string;
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** The slug, unique in the organization; it does not change when the project is renamed. */
  slug: string;
  /** The name, 1 to 120 characters; not unique. */
  name: string;
  /** Status of the project; missions start only on an active one. */
  status: 'active' | 'paused' | 'archived';
  /** The kind of issue tracker. */
  tracker: 'builtin' | 'linear' | 'github' | 'gitlab';
  /** The integration of the tracker; null for a built-in tracker without an integration. */
  trackerConnectorId: string | null;
  /** The team in the tracker; null when the tracker has none. */
  trackerTeamId: string | null;
  /** Not used yet: always null. */
  trackerProjectId: string | null;
  /** The integration of the source host; empty while `missingConnectorKinds` names `scm`. */
  scmConnectorId: string;
  /** Owner of the repository: the part before the slash. */
  scmOwner: string;
  /** Name of the repository: the part after the slash. */
  scmRepo: string;
  /** The integration of the language model; empty while `missingConnectorKinds` names `llm`. */
  llmConnectorId: string;
  /** Whether the pull request of a completed run is merged without a person, by the platform: at the commit that a reviewer of the run has approved, once its checks have passed. The pull request of a run without a reviewer is never merged this way. */
  autoMerge: boolean;
  /** The prefix of issue keys. */
  issueCode: string | null;
  /** The sandbox template for agents whose own template is `standard`; null means `standard`. */
  defaultSandboxTemplateId: string | null;
  /** When the project was created. */
  createdAt: number;
  /**
   * The kinds of connector that the project lacks; absent when it lacks none.
   *
   * Items: Purpose of a connector in a project.
   */
  missingConnectorKinds?: ('tracker' | 'scm' | 'llm')[];
}
/** The parameters of `projectMcp`. */
export interface ProjectMcpParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
}
/** The MCP servers of a project, both declared in its repository and bound. */
export interface ProjectMcpView {
  /** The id of the project; starts with `prj_`. */
  projectId: string;
  /** Path of the config file in the repository. */
  configPath: string;
  /** Source of the path: `project` when the project has set its own. */
  configPathSource: 'service.yml' | 'project';
  /** The ref that was read; null when none was read. */
  configRef: string | null;
  /** The outcome of reading the file now. */
  configStatus: 'ok' | 'missing' | 'invalid' | 'unreachable';
  /** The error; null when `ok`. */
  configError: string | null;
  /** Warnings about content that the file should not have. */
  warnings: string[];
  /** First the servers that the file declares, in its order; then the bound servers that it does not declare. */
  servers: McpServer[];
}
/** One page of a list of Project records. */
export interface ProjectPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Project[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `project`. */
export interface ProjectParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
}
/** The parameters of `projects`. */
export interface ProjectsParameters {
  /** Rows per page: 1 to 100. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Only projects whose tracker uses this connector. */
  byTrackerConnectorId?: string;
  /** Only projects with this team of the tracker. */
  byTrackerTeamId?: string;
  /** Only projects with this `trackerProjectId`. No project has one yet, so this filter matches no project. */
  byTrackerProjectId?: string;
  /** Only projects whose source host uses this connector. */
  byScmConnectorId?: string;
  /** Only projects whose repository has this owner. */
  byScmOwner?: string;
  /** Only projects whose repository has this name. */
  byScmRepo?: string;
}
/** A part of a prompt with its source. */
export interface PromptSpan {
  /** The id of the span, unique in the answer. */
  id: string;
  /** The text of the span within this chunk. */
  content: string;
}
/** The parameters of `pushCheckpoint`. */
export interface PushCheckpointParameters {
  /** The changes. */
  input: {
    /** The run, which must have ended. */
    runId: string;
    /** The key of the upload, a git bundle of at most 256 MiB. */
    contentKey: string;
    /** The commit of all files, `refs/checkpoint/work` of the bundle; its parent is the head of the branch. `refs/checkpoint/sessions` has the session files. */
    commitSha: string;
    /** The `commitSha` of the checkpoint that the changes are based on. */
    replacesCommitSha: string;
  };
}
/** The parameters of `putMcpBinding`. */
export interface PutMcpBindingParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
  serverName: string;
}
/** The binding of a declared server. */
export interface PutMcpBindingRequest {
  /**
   * The roles whose agents may use the server.
   *
   * @maxItems 5
   *
   * Items: Role of an agent in a mission.
   */
  roles: ('planner' | 'builder' | 'reviewer' | 'qa' | 'researcher')[];
  /**
   * The approved tools; absent means no change. A list also states that all tools were reviewed in their present form.
   *
   * @maxItems 500
   *
   * Items: A tool that agents may use.
   */
  approvedTools?: {
    /** The server’s name for the tool. */
    name: string;
    /** Whether a person attests that the tool is read-only. Roles other than `builder` get only such tools. */
    attestedReadOnly?: boolean;
    /** Whether a person decides about each call, with its arguments. Absent means unchanged, and false for a new tool. */
    alwaysAsk?: boolean;
  }[];
  /** Values of the declared secrets by name, which are never returned. Null deletes a value, and absent values are kept. */
  credentials?: {
    [k: string]: string | null | undefined;
  };
  /**
   * Hosts to which the service may send requests in addition to the host of the server, such as the host of its authorization server.
   *
   * @maxItems 20
   */
  allowedEgressHosts?: string[];
  /** Whether missions can use the server; true when absent in the request that binds the server. */
  enabled?: boolean;
}
/** The parameters of `qualityFigures`. */
export interface QualityFiguresParameters {
  /** The groups. */
  groupBy?: 'all' | 'project' | 'agent' | 'version';
  /** Only missions that began in this number of days before now are counted: 1 to 366. */
  days?: number;
  /** Only missions of this project. */
  projectId?: string;
  /** Only missions of this agent. */
  agentId?: string;
}
/** Statistics about the quality of the missions that began in a period. */
export interface QualityReport {
  /** The groups, those with the most missions first. */
  data: QualityFigures[];
}
/** A recorded model call, from which a fork can continue. */
export interface RecordedModelCall {
  /** The step of the call. */
  stepId: string;
  /** The role of the agent. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** Position among the calls of models and tools of the step, from 1. */
  number: number;
  /** When the call began. */
  at: number;
  /** The model that the request names; null when the recording does not contain the content of the request. */
  model: string | null;
  /** The HTTP status of the answer. */
  status: number;
  /** Whether the content of the call is left out, because it exceeds the limits of a recording. */
  isOmitted: boolean;
}
/** A page of at most 200 recorded model calls. */
export interface RecordedModelCalls {
  /** The calls, grouped by step, in the order in which they began. */
  data: RecordedModelCall[];
  /** Whether there are further calls. */
  hasMore: boolean;
}
/** The parameters of `recordedModelCalls`. */
export interface RecordedModelCallsParameters {
  /** The id of the run. */
  runId: string;
  /** Number of calls to skip. */
  after?: number;
}
/** The model and tool calls that passed through the gateway of a run, as JSON lines. */
export interface Recording {
  /** The run. */
  runId: string;
  /** Number of recorded calls. */
  calls: number;
  /** Number of calls whose content is left out, because it exceeds the limits of a call or of a run. */
  omitted: number;
  /** Size of the lines in bytes. */
  sizeBytes: number;
  /** Time when the first calls of the run were stored. */
  createdAt: number;
  /** Time when the first calls of the run will be deleted. */
  expiresAt: number;
  /** URL for the download of the lines: valid for about an hour, without a credential. */
  url: string;
}
/** The parameters of `recording`. */
export interface RecordingParameters {
  /** The id of the run. */
  runId: string;
}
/** Whether an organization records its missions, and for how long. */
export interface RecordingSettings {
  /** Whether the calls of missions are recorded; false unless an owner has decided otherwise. */
  isEnabled: boolean;
  /** Days after which a recorded call is deleted. */
  days: number;
}
/** The parameters of `redeliverInboundDelivery`. */
export interface RedeliverInboundDeliveryParameters {
  /** The id of the hook. */
  hookId: string;
  /** The id of the delivery. */
  deliveryId: string;
}
/** The parameters of `refreshMcpTools`. */
export interface RefreshMcpToolsParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
  serverName: string;
}
/** The parameters of `rejectOutsideEffects`. */
export interface RejectOutsideEffectsParameters {
  /** The run. */
  runId: string;
  /**
   * Ids of the effects; absent means all that wait.
   *
   * @minItems 1
   * @maxItems 200
   */
  effectIds?: string;
  /**
   * Digests of the effects as you saw them. If one has changed since, the response is a 409. Absent means no check.
   *
   * @minItems 1
   * @maxItems 200
   */
  digests?: string;
}
/** The parameters of `replaceInboundHookSecret`. */
export interface ReplaceInboundHookSecretParameters {
  /** The id of the hook. */
  hookId: string;
}
/** The new secret. */
export interface ReplaceInboundHookSecretRequest {
  /** A secret that the sender has chosen, 16 to 200 characters. Absent means a new one. */
  secret?: string;
}
/** The parameters of `replaceSamlMetadata`. */
export interface ReplaceSamlMetadataParameters {
  /** The id of the provider. */
  samlProviderId: string;
  /** The metadata. */
  input: {
    /** The metadata of the provider as XML. */
    metadataXml?: string | null;
    /** The https URL of the metadata, which is read again every day for new keys. */
    metadataUrl?: string | null;
  };
}
/** The parameters of `replaceWebhookSecret`. */
export interface ReplaceWebhookSecretParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** The parameters of `rerunMission`. */
export interface RerunMissionParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `resendWebhookDeliveries`. */
export interface ResendWebhookDeliveriesParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** The deliveries to send again are selected by the time at which they were written. A delivery that already repeats an earlier delivery is left out. */
export interface ResendWebhookDeliveriesRequest {
  /** Deliveries that were written at this time or later. */
  createdFrom: number;
  /** Deliveries that were written before this time; absent means now. */
  createdBefore?: number;
  /** Only deliveries in this state, `delivered` or `failed`; absent means both. */
  status?: 'pending' | 'delivered' | 'failed';
}
/** The parameters of `resendWebhookDelivery`. */
export interface ResendWebhookDeliveryParameters {
  /** The id of the endpoint. */
  endpointId: string;
  /** The id of the delivery. */
  webhookDeliveryId: string;
}
/** Deliveries that are sent again. */
export interface ResentWebhookDeliveries {
  /** Number of new deliveries. */
  count: number;
}
/** The parameters of `resizeTerminal`. */
export interface ResizeTerminalParameters {
  /** The id of a terminal that the caller has opened. */
  terminalId: string;
  /** Characters per line of the window, at most 65535. The terminal uses at least 20 and at most 500. */
  width: number;
  /** Number of lines of the window, at most 65535. The terminal uses at least 5 and at most 300. */
  height: number;
}
/** The parameters of `resolveHostThread`. */
export interface ResolveHostThreadParameters {
  /** The run. */
  runId: string;
  /** The host’s id of the thread, as `hostThreads` of the run returns it. */
  key: string;
  /** Whether the thread is resolved. */
  isResolved: boolean;
}
/** The parameters of `resolveReviewComment`. */
export interface ResolveReviewCommentParameters {
  /** The id of the comment. */
  commentId: string;
  /** Whether the comment is resolved. */
  isResolved: boolean;
}
/** The parameters of `restoreAgentVersion`. */
export interface RestoreAgentVersionParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
  /** The number of the version. */
  number: number;
  /** Reason for the change, shown in the list of versions: 1 to 500 characters. */
  note?: string;
}
/** The parameters of `restoreInboxItem`. */
export interface RestoreInboxItemParameters {
  /** The id of the item. */
  itemId: string;
}
/** The parameters of `resumeRun`. */
export interface ResumeRunParameters {
  /** The id of the run. */
  runId: string;
}
/** How long an organization keeps details, logs, artifacts and sandboxes of ended missions. */
export interface RetentionSettings {
  /** Days from the end of a mission until its details are deleted: steps, messages, logs, sandboxes, artifacts and recordings. Its result, cost and attestations are kept. Null means that only the settings of logs, artifacts and sandboxes apply. */
  runDays: number | null;
  /** Days from the end of a mission until its logs and transcript are deleted; null keeps them as long as their sandboxes. */
  logDays: number | null;
  /** Days from the end of a mission until its artifacts are deleted; null keeps them for 90 days. */
  artifactDays: number | null;
  /** Days from the end of a mission until its sandboxes are deleted, with their logs; null keeps them. */
  sandboxDays: number | null;
}
/** A person’s verdict on the change of a mission. The runs of one branch share their reviews. */
export interface Review {
  /** The id, which starts with `rvw_`. */
  id: string;
  /** The run whose change was reviewed. */
  runId: string;
  /** The reviewed commit. */
  headSha: string;
  /** The verdict. */
  verdict: 'approve' | 'request_changes' | 'comment';
  /** The person’s text about the whole change; may be empty. */
  body: string;
  /** The name of the person when the review was submitted. */
  author: string;
  /** The person; null once the account is deleted. */
  authorUserId: string | null;
  /** The run whose agent got the requested changes; null for other verdicts. */
  answeringRunId: string | null;
  /** When the review was submitted. */
  createdAt: number;
}
/** A comment of a review on lines of the change. */
export interface ReviewComment {
  /** The id, which starts with `cmt_`. */
  id: string;
  /** The path of the file in the repository. */
  path: string;
  /** The version of the file to which the lines belong. */
  side: 'old' | 'new';
  /** The first of the lines, counted from 1. */
  startLine: number;
  /** The last of the lines. */
  line: number;
  /** The lines as the reviewer saw them; empty when they were not sent. */
  quote: string;
  /** The comment. */
  body: string;
  /** When a person resolved the comment; null while it is open. */
  resolvedAt: number | null;
  /** The name of the person who resolved the comment; null while it is open. */
  resolvedBy: string | null;
  /** When the review was submitted. */
  createdAt: number;
}
/** The parameters of `revokeDirectoryToken`. */
export interface RevokeDirectoryTokenParameters {
  /** The `id` of the token. */
  directoryTokenId: string;
}
/** The parameters of `revokeIntegration`. */
export interface RevokeIntegrationParameters {
  /** An integration of the organization. */
  integrationId: string;
}
/** The parameters of `revokeInvite`. */
export interface RevokeInviteParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  inviteId: string;
}
/** Confirms that the call succeeded. */
export interface RevokeInviteResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
}
/** The parameters of `revokeRunShare`. */
export interface RevokeRunShareParameters {
  /** The id of the link. */
  shareId: string;
}
/** The parameters of `revokeRuntimeToken`. */
export interface RevokeRuntimeTokenParameters {
  /** The `id` of the token. */
  runtimeTokenId: string;
}
/** The parameters of `rotateChat`. */
export interface RotateChatParameters {
  /** The id of the chat’s connector. */
  chatId: string;
  /** The new credentials. */
  input: {
    /** The new token, for the same workspace; stored encrypted and never returned. */
    botToken?: string;
    /** The new signing secret; stored encrypted and never returned. */
    signingSecret?: string;
  };
}
/** The parameters of `rotateIntegration`. */
export interface RotateIntegrationParameters {
  /** An integration of the organization. */
  integrationId: string;
  /** The new credentials. They are stored encrypted and never returned. */
  credentials?: string;
  /** An installation of a GitHub App instead of a token; only for `github`. */
  githubApp?: {
    /** The id or client id of the App, from its settings. */
    appId: string;
    /** The id of the installation: the number at the end of the URL of its settings. */
    installationId: string;
    /** A private key of the App, PEM. It is stored encrypted and never returned. */
    privateKey: string;
  };
  /** A Linear OAuth application instead of an API key, only for `linear`. The application acts as an agent in Linear. */
  linearApp?: {
    /** The client id of the application, as its settings show it. */
    clientId: string;
    /** The client secret of the application: encrypted, and never returned. */
    clientSecret: string;
  };
}
/** The parameters of `runAutomation`. */
export interface RunAutomationParameters {
  /** The id of the automation. */
  automationId: string;
}
/** A call that passed through the gateway of a run. It is a leaf of the Merkle tree in the attestations of the run. */
export interface RunCall {
  /** Position, from 1: the leaf has the index `number - 1`. */
  number: number;
  /** Kind of the call. */
  kind: 'model' | 'tool' | 'network';
  /** The call as canonical JSON (RFC 8785), whose bytes are the leaf. It contains the request and the response as SHA-256 digests. */
  entry: string;
}
/** One page of a list of RunCall records. */
export interface RunCallPage {
  /** Oldest first. */
  data: RunCall[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `runCalls`. */
export interface RunCallsParameters {
  /** The id of the run. */
  runId: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `runConnections`. */
export interface RunConnectionsParameters {
  /** The id of the run. */
  runId: string;
}
/** An event of a run, at a moment that `runMoment` can show. */
export interface RunEvent {
  /** When it happened. */
  at: number;
  /** Kind of the event. */
  kind: 'start' | 'step' | 'message' | 'plan' | 'question' | 'error' | 'artifact' | 'end';
  /** The event in a few words, at most 200 characters. */
  text: string;
}
/** The events of a run. */
export interface RunEvents {
  /** The events, in chronological order. */
  data: RunEvent[];
}
/** The parameters of `runEvents`. */
export interface RunEventsParameters {
  /** The id of the run. */
  runId: string;
}
/** Runs that share a status, a project, an agent or a person. */
export interface RunGroup {
  /** The value that the runs of the group share: a status, or the id of a project, agent or person. Null for runs without an agent or person. */
  key: string | null;
  /** The name of the project, agent or person; null for a status, and for a deleted record. */
  name: string | null;
  /** Number of runs. */
  count: number;
}
/** The groups of runs. */
export interface RunGroups {
  /** The groups, largest first. */
  data: RunGroup[];
}
/** The parameters of `runGroups`. */
export interface RunGroupsParameters {
  /** The value that the runs of a group share. */
  by: 'status' | 'project' | 'agent' | 'person';
  /** Only runs of this project. */
  projectId?: string;
  /** Only runs in this status. */
  status?: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** Only runs that contain all of these words, or words that begin with them. The search covers title, prompt and messages and, if the caller has the scope `sandboxes:read`, the transcript and logs of the last 14 days. 1 to 200 characters, of which the first 10 words count. */
  search?: string;
  /** True means only open runs that wait for a person to act, for example to approve a plan. */
  needsPerson?: boolean;
  /** True means only runs that the caller follows. */
  followed?: boolean;
  /** Only runs that the schedule started, or only those that a person or program started. */
  kind?: 'scheduled' | 'manual';
  /** Only runs that were started for this agent; `none` for those that any agent may work on. */
  agentId?: string;
  /** Only runs with this `personId`; `none` for runs without a responsible person. */
  personId?: string;
  /** Only runs that were created at this time or later; the year is at most 9999. */
  createdFrom?: number;
  /** Only runs that were created before this time; the year is at most 9999. */
  createdBefore?: number;
}
/** Messages and decisions of people about a run. */
export interface RunHistory {
  /** The messages and decisions, in their order. */
  data: RunMessage[];
}
/** An entry in the history of a run: a message that a person has sent to the agent, or a decision of a person about the run. */
export interface RunMessage {
  /** The id, which is unique and never changes. */
  id: string;
  /** The id of the run; starts with `run_`. */
  runId: string;
  /** Position in the history of the run, from 0. */
  seq: number;
  /** Kind of the entry. */
  kind: 'message' | 'answer' | 'approval' | 'interrupt' | 'resume' | 'handover' | 'push';
  /** The text of a message or an answer, the name of the person whom the mission was handed to, or the pushed commit; empty for other kinds. */
  text: string;
  /** The name of the person at the time of the message or decision. */
  author: string;
  /** The id of the person; null once the account is deleted. */
  authorUserId: string | null;
  /** The sandbox of the agent that asked the question; null unless the entry is an answer. */
  sandboxId: string | null;
  /** The position of the question; null unless the entry is an answer. */
  fragmentSeq: number | null;
  /** The decision about the call of a tool; null unless the entry answers a question about a call. */
  approved: boolean | null;
  /** When the message was sent or the decision was made. */
  createdAt: number;
  /** When the message was delivered to the runtime of the agent; null before, and for kinds other than messages and answers. */
  deliveredAt: number | null;
  /** When the agent read the message; null before. */
  acknowledgedAt: number | null;
}
/** The parameters of `runMessages`. */
export interface RunMessagesParameters {
  /** The id of the run. */
  runId: string;
}
/** A run as it was at a given time. */
export interface RunMoment {
  /** The time at which the run was in this state. */
  at: number;
  /** Status of the run at the time `at`. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** Cost of the run up to the time `at`, in US dollars. */
  costUsd: number;
  /** The steps that existed at the time `at`, with the status that they had then. Costs and tokens are those of the whole step. */
  steps: MissionStep[];
  /** Messages and decisions of people up to the time `at`. */
  messages: RunMessage[];
  /** The newest 100 thoughts, actions and messages up to the time `at`, in order. */
  fragments: SandboxLiveFragment[];
  /** The plan of the agent at the time `at`; empty if there was none yet. */
  plan: RunPlanItem[];
  /** The last output of the programs before the time `at`, at most 32,768 characters. */
  log: string;
  /** Paths of the files in the newest change that was pushed up to the time `at`; null if no change was pushed yet. */
  paths: string[] | null;
}
/** A thought, action or message of an agent at work. */
export interface SandboxLiveFragment {
  /** Kind of the fragment, which determines the other fields that are set. */
  kind: 'thought' | 'action' | 'elicitation' | 'response' | 'error' | 'prompt' | 'plan';
  /** When the fragment was created. */
  t: number;
  /** The text; null for an action. */
  body: string | null;
  /** The tool of the action. */
  action: string | null;
  /** Input of the tool; null for other kinds. */
  parameter: string | null;
  /** Output of the tool; null until there is one. */
  result: string | null;
  /** The model’s id of the tool call; a later action with the same id contains the result. */
  toolUseId: string | null;
  /** The steps of a plan. */
  items: SandboxPlanItem[];
}
/** One step of a plan. */
export interface SandboxPlanItem {
  /** Description of the step. */
  content: string;
  /** The status that the agent reported, such as `pending`, `in_progress` or `completed`. In the last plan of a sandbox that has ended, a step in progress is `completed`, `failed` or `canceled` as the sandbox is, and a pending step is `skipped`. */
  status: string;
}
/** A step of an agent’s plan. */
export interface RunPlanItem {
  /** The step. */
  content: string;
  /** Status of the step, as the harness names it. */
  status: string;
}
/** The parameters of `runMoment`. */
export interface RunMomentParameters {
  /** The id of the run. */
  runId: string;
  /** The moment, not before the run was created; absent means now. */
  at?: number;
}
/** The run that was started manually. */
export interface RunNowResponse {
  /** Always true. */
  ok: true;
  /** The id of the new run. */
  runId: string;
  /** The issue’s id in the project’s tracker; null until the tracker has created it. */
  issueId: string | null;
  /** Status of the run: `skipped` while an earlier run is open. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
}
/** One page of a list of Run records. */
export interface RunPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Run[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `run`. */
export interface RunParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `runPreparations`. */
export interface RunPreparationsParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `runScheduledTask`. */
export interface RunScheduledTaskParameters {
  /** The id of the scheduled task. */
  id: string;
}
/** The links to a run. */
export interface RunShares {
  /** The links, oldest first. */
  data: RunShare[];
}
/** The parameters of `runShares`. */
export interface RunSharesParameters {
  /** The id of the run. */
  runId: string;
}
/** The steps of a run. */
export interface RunSteps {
  /** The steps, in their order. */
  data: MissionStep[];
}
/** The parameters of `runSteps`. */
export interface RunStepsParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `runUpdated`. */
export interface RunUpdatedParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `runs`. */
export interface RunsParameters {
  /** Only runs of this project. */
  projectId?: string;
  /** Only runs in this status. */
  status?: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** True means only open runs that wait for a person to act, for example to approve a plan. */
  needsPerson?: boolean;
  /** Only runs that the schedule started, or only those that a person or program started. */
  kind?: 'scheduled' | 'manual';
  /** Only runs that were started for this agent; `none` for those that any agent may work on. */
  agentId?: string;
  /** Only runs that were created at this time or later; the year is at most 9999. */
  createdFrom?: number;
  /** Only runs that were created before this time; the year is at most 9999. */
  createdBefore?: number;
  /** Order of the list, newest first when absent. A cursor is valid for one order only. */
  order?: 'oldest' | 'newest';
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** A program that takes runs and has agents work on them. */
export interface Runtime {
  /** The name that the runtime has chosen for itself. */
  name: string;
  /** The runtime token with which the runtime authenticates; null for a runtime of the operator, which serves all organizations. */
  tokenId: string | null;
  /** The harnesses that the runtime can execute. */
  harnesses: RuntimeHarness[];
  /** How missions are isolated from each other, such as `cell`, `container` or `none`; null when not reported. */
  isolation: string | null;
  /** Labels that sandbox templates can ask for. */
  labels: string[];
  /** Maximum number of concurrent missions; null when not reported. */
  places: number | null;
  /** Number of missions of the organization that the runtime executes. */
  usedPlaces: number;
  /** Number of further missions that the runtime could execute now. Null when the runtime has not reported how many missions it can execute at once, and for a runtime that serves all organizations. */
  freePlaces: number | null;
  /** Number of missions of the organization that wait and that the runtime could take, at most 1000; 0 when the runtime takes no new missions or is not connected. */
  waitingRuns: number;
  /** When the mission that has waited longest began to wait; null when no mission waits. Missions that the runtime could not take do not count. */
  oldestWaitingAt: number | null;
  /** Vendors whose models the runtime can use with its own credentials. It can also use vendors that the organization has connected. Null when the runtime reports no vendors. */
  modelVendors: ('anthropic' | 'openai')[] | null;
  /** Reason why a harness is not offered yet, for example because it is being installed; null when not reported. */
  notice: string | null;
  /** Time of the last claim or heartbeat, to the half minute. */
  lastSeenAt: number;
  /** Whether the runtime was told to take no new missions. */
  isDraining: boolean;
  /** Whether the last claim or heartbeat was within two minutes. */
  isConnected: boolean;
}
/** A harness that a runtime can execute. */
export interface RuntimeHarness {
  /** The program that drives a model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** The version that the runtime reported; null when it reported none. */
  version: string | null;
}
/** Missions that need a runtime, as numbers for an autoscaler. */
export interface RuntimeDemand {
  /** Number of missions that wait or run. Divide it by the number of missions that one runtime executes at once to get the number of runtimes that are needed. */
  missions: number;
  /** Number of missions that wait for a runtime. */
  waiting: number;
  /** Number of missions that run on runtimes of the organization or, with a token for all organizations, on runtimes of the operator. */
  running: number;
  /** Seconds for which the oldest mission has waited; 0 when none waits. */
  oldestWaitingSeconds: number;
}
/** The parameters of `runtimeDemand`. */
export interface RuntimeDemandParameters {
  /** Labels of the runtimes that are scaled, separated by commas: only missions that ask for some of these labels, and for no others, are counted. Without labels, only missions that ask for no label are counted. */
  labels?: string;
}
/** A token with which runtimes claim runs of this organization, without its bearer value. */
export interface RuntimeToken {
  /** The id, which starts with `svc_`; not a secret. */
  id: string;
  /** A label for people; several tokens may have the same. */
  name: string;
  /** When the token was created. A runtime token does not expire. */
  createdAt: number;
  /** The last use, accurate to the minute; null when it was never used. */
  lastUsedAt: number | null;
  /** When the token was revoked; null for an active one. */
  revokedAt: number | null;
  /** Names of the token’s runtimes that are draining: they take no new missions. */
  draining: string[];
}
/** The runtime tokens of an organization. */
export interface RuntimeTokens {
  /** The active tokens, then the revoked ones, newest first: at most 100. */
  data: RuntimeToken[];
}
/** The runtimes that work for an organization, and the missions that wait for one. */
export interface Runtimes {
  /** The runtimes, the most recently seen first: at most 100. */
  data: Runtime[];
  /** Missions that wait for a runtime, grouped by reason and labels, the largest group first. Only the 20 largest groups of the 1000 oldest missions are listed. */
  waiting: WaitingRuns[];
}
/** Missions that wait for a runtime for the same reason. */
export interface WaitingRuns {
  /** Why the missions wait; null for about two seconds, until the reason is known. */
  reason: string | null;
  /** Labels that a runtime must have to take the missions. */
  labels: string[];
  /** Number of missions. */
  runs: number;
  /** When the oldest of the missions began to wait. */
  oldestWaitingAt: number;
  /** The run that waits longest. */
  oldestRunId: string;
}
/** The container that an agent works in. */
export interface Sandbox {
  /** The id, which starts with `sbx_`. */
  sandboxId: string;
  /** The issue that is worked on. */
  issueId: string | null;
  /** The id of the project; starts with `prj_`. */
  projectId: string;
  /** The role of the agent. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the model. */
  harness: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** The version that the harness reported; null when unknown. */
  harnessVersion: string | null;
  /** The run that the sandbox belongs to. */
  runId: string | null;
  /** Status of the sandbox; `stale` when it is running but has stopped sending heartbeats. */
  status: 'running' | 'stale' | 'destroyed' | 'completed' | 'failed';
  /** Reason why the sandbox ended, such as `killed`. */
  terminationReason: string | null;
  /** The size of the sandbox. */
  instanceType: 'lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4';
  /** When the runtime registered the sandbox. */
  createdAt: number;
  /** Deadline at which a running sandbox is ended; null without a timeout. */
  timeoutAt: number | null;
  /** Time of the last heartbeat. */
  lastHeartbeatAt: number;
  /** When the sandbox ended; null while it runs. */
  destroyedAt: number | null;
  /** CPU use at the last sample in percent; null before the first sample. */
  lastCpuPct: number | null;
  /** Memory in use at the last sample, MiB. */
  lastMemUsedMb: number | null;
  /** Memory available at the last sample, MiB. */
  lastMemTotalMb: number | null;
  /** Disk use at the last sample in percent of the mission’s limit. */
  lastDiskUsedPct: number | null;
  /** Time of the last sample; null before the first. */
  lastMetricAt: number | null;
}
/** A sandbox with its metrics, sessions and fragments. */
export interface SandboxDetail {
  sandbox: Sandbox;
  /** Metrics of the whole lifetime of the sandbox, oldest first, in at most 240 points. */
  metrics: SandboxMetric[];
  /** The sessions, oldest first. */
  sessions: SandboxSession[];
  /** The last 200 fragments, the newest last; in GraphQL `fragments` pages through all. */
  liveFragments: SandboxLiveFragment[];
}
/** Resource use of a sandbox: the mean over an interval that ends at `t`. */
export interface SandboxMetric {
  /** End of the interval. */
  t: number;
  /** CPU use in percent of all cores, 0 to 100. */
  cpuPct: number;
  /** Memory in use, MiB. */
  memUsedMb: number;
  /** Memory available to the sandbox, MiB. */
  memTotalMb: number;
  /** Disk use in percent of the mission’s limit, 0 to 100. */
  diskUsedPct: number;
}
/** One conversation of a role with its model. */
export interface SandboxSession {
  /** The role of the agent. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** An id, unique within the sandbox and role. */
  sessionId: string;
  /** Start time. */
  ts: string;
  /** Outcome; null while the session is open. */
  outcome: string | null;
  /** Name of the log; null while the log is empty. */
  logKey: string | null;
  /** Name of the system log; null without one. */
  systemKey: string | null;
  /** Model costs so far, US dollars. */
  totalCostUsd: number;
}
/** One log of a session. */
export interface SandboxLog {
  /** The id of the sandbox; starts with `sbx_`. */
  sandboxId: string;
  /** The role of the session. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The session. */
  sessionId: string;
  /** The log of the session from which `content` was read. */
  part: 'session' | 'system' | 'prompt';
  /** The newest content or, if `cursor` was sent, an older piece: at most 1,048,576 bytes. */
  content: string;
  /** Length of the whole log in bytes, not only of `content`. */
  bytes: number;
  /** When the log was deleted because the retention period of the organization had passed. A deleted log is empty. Null while the log is kept. */
  deletedAt: number | null;
  /** Source of the text of the whole prompt: `repo-contributed` from files of the repository, `mission` from the mission, or `mixed`; null if `part` is not `prompt`, and while the prompt is empty. */
  promptScope: string | null;
  /** The spans of the prompt; empty if `part` is not `prompt`. */
  promptSpans: PromptSpan[];
}
/** The parameters of `sandboxLog`. */
export interface SandboxLogParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  sandboxId: string;
  /** The role of the session’s agent. */
  role: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The `sessionId` of one of the sandbox’s sessions. */
  sessionId: string;
  /** The log of the session to read. */
  part?: 'session' | 'system' | 'prompt';
  /** Cursor of an older piece: the `cursor` of the `Link` header with `rel="next"` (GraphQL, MCP: `nextCursor`). */
  cursor?: string;
  /** Number of bytes to skip at the beginning of the log. If you send the `bytes` of the last response, you get only what was added to the log since then. When you send `cursor` to get an older piece, repeat the `after` of the first request. Absent means the whole log. */
  after?: number;
}
/** One page of a list of Sandbox records. */
export interface SandboxPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Sandbox[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `sandbox`. */
export interface SandboxParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  sandboxId: string;
}
/** The environment that agents work in: the source and contents of a sandbox, and the hosts that it may reach. */
export interface SandboxTemplate {
  /** The id, which starts with `sbt_`; `standard` for the built-in template. */
  id: string;
  /** The organization of the template; for the built-in template, the caller’s. */
  orgId: string;
  /** The name, unique among the organization’s own templates. */
  name: string;
  /** Purpose of the template; null without one. */
  description: string | null;
  /** Source of a sandbox. */
  base: 'machine' | 'image' | 'dockerfile';
  /** Container image, for the base `image`; null otherwise. */
  image: string | null;
  /** Dockerfile, for the base `dockerfile`; the built-in template shows the Dockerfile of the default image. */
  dockerfile: string | null;
  /** A POSIX shell script that prepares the environment, in the checkout; null without one. */
  setupScript: string | null;
  /** Environment variables of setup and agents. */
  variables: TemplateVariable[];
  /** Containers that run next to each mission. */
  services: TemplateService[];
  setupNetwork: NetworkPolicy;
  agentNetwork: NetworkPolicy;
  /** Labels that a runtime must have, all of them, to execute missions with the template. */
  labels: string[];
  /** The size of missions that start without a chosen size; null means the memory of `standard-1` and no other limit. */
  instanceType: 'lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4' | null;
  /** Maximum memory of a mission, MiB; null means the memory of the instance type. */
  memoryMb: number | null;
  /** Maximum disk space of a mission, MiB; null means the limit of the runtime. */
  diskMb: number | null;
  /** Maximum number of processes of a mission; null means the limit of the runtime. */
  processes: number | null;
  /** Time limit of a step in minutes; null means the limit of the service. */
  stepMinutes: number | null;
  /** Maximum number of model calls of a step; null means the limit of the service. */
  stepModelCalls: number | null;
  /** Maximum number of tokens that a step may use. Input, output and cached tokens count. Null means no limit. */
  stepTokens: number | null;
  /** Maximum number of minutes that a mission may use its sandbox, unless its start sets another limit; null means the maximum of the installation. */
  maxMinutes: number | null;
  /** Maximum number of model calls of a mission, unless its start sets another limit; null means the maximum of the installation. */
  maxModelCalls: number | null;
  /** Maximum number of tokens that a mission may use, unless another limit was set when it was started. Input, output and cached tokens count. Null means the maximum of the installation. */
  maxTokens: number | null;
  /** Policy that decides which outside effects wait for approval, in addition to those of the project; null means none. */
  effectPolicy: EffectPolicy | null;
  /** Whether the template is part of the service: every organization has it, and nobody can change or delete it. */
  isBuiltin: boolean;
  /** When the template was created; for the built-in template, a fixed time. */
  createdAt: number;
  /** When the template was last changed. */
  updatedAt: number;
}
/** An environment variable of setup and agents. It is not secret. */
export interface TemplateVariable {
  /** Name of the environment variable. */
  name: string;
  /** The value, which is visible to everybody who can read the template. */
  value: string;
}
/** A container that runs next to each mission, such as a database: the mission reaches it at `localhost`. */
export interface TemplateService {
  /** The name of the service, unique in the template. */
  name: string;
  /** The container image of the service. */
  image: string;
  /** Environment variables of the service alone. `${secret:NAME}` in a value is replaced by the value of NAME, which must be a secret for the setup. */
  variables: TemplateVariable[];
  /** Arguments that replace the command of the image; null means the command of the image. */
  command: string[] | null;
  /** Shell command in the container that succeeds once the service is ready; null means that the service is ready once its container has run for two seconds. */
  healthCheck: string | null;
}
/** One page of a list of SandboxTemplate records. */
export interface SandboxTemplatePage {
  /** Newest first, unless `order` specifies otherwise. */
  data: SandboxTemplate[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `sandboxTemplate`. */
export interface SandboxTemplateParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  templateId: string;
}
/** The parameters of `sandboxTemplates`. */
export interface SandboxTemplatesParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** Changes of a sandbox since the last event. */
export interface SandboxUpdate {
  sandbox: Sandbox;
  /** The fragments since the last event, at most 200 at a time, the newest last. */
  fragments: SandboxLiveFragment[];
  /** Number of the next fragment, to send as `after`. */
  nextFragment: number;
  /** The first event contains all metrics so far, as at most 240 points. Each later event contains the samples since the previous event. */
  metrics: SandboxMetric[];
}
/** The parameters of `sandboxUpdated`. */
export interface SandboxUpdatedParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  sandboxId: string;
  /** The `nextFragment` of the last event received; without it, the stream begins with the last 200 fragments. */
  after?: number;
}
/** The parameters of `sandboxes`. */
export interface SandboxesParameters {
  /** Only records with this value in the field of the same name. */
  projectId?: string;
  /** Only sandboxes in this status; absent means all. */
  status?: 'running' | 'stale' | 'destroyed' | 'completed' | 'failed';
  /** Rows per page: 1 to 500. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** A destination, and its token if it was created now. */
export interface SavedAuditStream {
  stream: AuditStream;
  /** The new token that deliveries carry, which no other response contains; null when the caller chose the token, or the stored one is kept. */
  token: string | null;
}
/** A recurring mission of a person: it starts on a schedule or manually. */
export interface ScheduledTask {
  /** The id, which is unique and never changes. */
  id: string;
  /** The organization of the recurring mission. */
  orgId: string;
  /** The project in whose repository the missions work. */
  projectId: string;
  /** The name, 1 to 120 characters; the title of each issue. */
  name: string;
  /** The task for the agent: 1 to 20,000 characters. */
  prompt: string;
  /** The template of the recurring mission; null without one. */
  templateKey: string | null;
  /** 1 to 10 schedules; each occurrence of any of them starts a mission. */
  triggers: Trigger[];
  /** Labels that each issue gets, at most 20. */
  labels: string[];
  /** Whether an occurrence is skipped while an earlier run is dispatching or running. */
  skipIfPreviousOpen: boolean;
  /** Whether the schedule is active; "run now" works for an inactive one too. */
  enabled: boolean;
  /** The next occurrence; null while the recurring mission is disabled. */
  nextRunAt: number | null;
  /** When a mission last started; a skipped run does not count. Null before the first. */
  lastRunAt: number | null;
  /** When the recurring mission was created. */
  createdAt: number;
  /** When a person last changed the recurring mission. */
  updatedAt: number;
  /** The person who created the scheduled task. */
  createdByUserId: string;
}
/** One page of a list of ScheduledTask records. */
export interface ScheduledTaskPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: ScheduledTask[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `scheduledTask`. */
export interface ScheduledTaskParameters {
  /** The id of the scheduled task. */
  id: string;
}
/** One run of a scheduled task. */
export interface ScheduledTaskRun {
  /** The id, which is unique and never changes. */
  id: string;
  /** The scheduled task of the run. */
  scheduledTaskId: string;
  /** The project in whose repository the run works. */
  projectId: string;
  /** When the run was due; for several missed occurrences that became one run, the time of the first. */
  scheduledFor: number;
  /** The origin of the run: the schedule of its mission, or a person, a program or an event. */
  kind: 'scheduled' | 'manual';
  /** Status of the run; `reason` explains it. */
  status: 'dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The issue’s id in the project’s tracker; null until the tracker has created it. */
  issueId: string | null;
  /** The page of the issue; null until the tracker has created it. */
  issueUrl: string | null;
  /** Reason why the run was skipped, was canceled or has failed; while it is dispatching, the reason for its wait. */
  reason: string | null;
  /** The last error of the tracker or of a runtime; null when there was none. */
  lastError: string | null;
  /** When the record of the run was written. */
  createdAt: number;
  /** When the run last changed. */
  updatedAt: number;
  /** Progress in percent, as the runtime reports it; null while no runtime works on it. Scripts report it; for agents it is 0 until the run is completed. */
  missionProgress: number | null;
  /** Current activity, as the runtime reports it. */
  missionActivity: string | null;
  /** Cost of the run in US dollars, the sum of all reported costs. */
  missionCostUsd: number;
  /** The name of the scheduled task or automation when the run began; without one, the first line of the prompt. */
  missionTitle: string | null;
  /** The person to whom the mission is billed: the person who started it manually, else the person who last changed the task or its schedule. */
  billingActorUserId: string | null;
  /** Whether the recorded cost of the run is known to be incomplete. */
  missionCostIncomplete: boolean;
}
/** One page of a list of ScheduledTaskRun records. */
export interface ScheduledTaskRunPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: ScheduledTaskRun[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `scheduledTaskRuns`. */
export interface ScheduledTaskRunsParameters {
  /** The id of the scheduled task. */
  id: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** A ready-made mission to create a scheduled task or an automation from. */
export interface ScheduledTaskTemplate {
  /** The value for `templateKey`. */
  key: string;
  /** A title to show. */
  name: string;
  /** The purpose of the mission, in one sentence. */
  blurb: string;
  /** The task for the agent, ready to be used or changed. */
  prompt: string;
  suggestedSchedule: Schedule;
}
/** All templates, on one page. */
export interface ScheduledTaskTemplateList {
  /** All templates. */
  data: ScheduledTaskTemplate[];
}
/** The parameters of `scheduledTasks`. */
export interface ScheduledTasksParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Only scheduled tasks of this project. */
  projectId?: string;
}
/** All scopes that a person can grant. */
export interface ScopeCatalog {
  /** Always the same groups, in the same order. */
  groups: ScopeGroup[];
}
/** The scopes of one kind of record. */
export interface ScopeGroup {
  /** The prefix of the group’s scopes, before the colon. */
  key: string;
  /** The name of the group, for people. */
  name: string;
  /** The scopes of the group. The list begins with the scope that allows reading. */
  scopes: ScopeEntry[];
}
/** A scope: one permission that a credential can have. */
export interface ScopeEntry {
  /** The scope as tokens name it, `<group>:<action>`. */
  scope: string;
  /** Description of the scope, for people. */
  description: string;
  /** The lowest role that may grant the scope. */
  requiredRole: 'owner' | 'admin' | 'member' | 'viewer';
  /** Whether the caller could grant the scope now: true for a person in the console whose role includes it, never for a token. */
  grantable: boolean;
}
/** A secret or variable of the environment of agents. Its value can be written but not read. */
export interface Secret {
  /** The id, which starts with `sec_`. */
  id: string;
  /** The organization of the secret or variable. */
  orgId: string;
  /** The missions that get the secret or variable. */
  scope: 'organization' | 'project' | 'template';
  /** The project, if the scope is `project`; null otherwise. */
  projectId: string | null;
  /** The sandbox template, if the scope is `template`; null otherwise. */
  templateId: string | null;
  /** Kind of value: an environment variable or a secret. */
  kind: 'variable' | 'secret';
  /** Name of the environment variable; unique in its scope. */
  name: string;
  /** The hosts to which requests carry the value of a secret. */
  hosts: string[];
  /** Whether only the setup gets the secret or variable. */
  setupOnly: boolean;
  /** When a runtime last got the secret or variable for a step; null before. */
  lastUsedAt: number | null;
  /** When the secret or variable was created. */
  createdAt: number;
  /** When the secret or variable was last changed. */
  updatedAt: number;
}
/** One page of a list of Secret records. */
export interface SecretPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: Secret[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `secret`. */
export interface SecretParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  secretId: string;
}
/** The parameters of `secrets`. */
export interface SecretsParameters {
  /** Only secrets and variables of this scope. */
  scope?: 'organization' | 'project' | 'template';
  /** Only secrets and variables of this project. */
  projectId?: string;
  /** Only secrets and variables of this sandbox template. */
  templateId?: string;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The parameters of `sendMessage`. */
export interface SendMessageParameters {
  /** The id of the run. */
  runId: string;
}
/** The body of `POST /runs/{runId}/messages`. */
export interface SendMessageRequest {
  /** The message: 1 to 4000 characters. */
  text: string;
  /** An id that you choose for the message: a repeated request with the same id changes nothing. */
  messageId?: string | null;
}
/** The parameters of `setAllowedNetworks`. */
export interface SetAllowedNetworksParameters {
  /** The new list. */
  input: {
    /**
     * The networks in CIDR notation, IPv4 and IPv6, at most 50; a single address is also allowed. Must contain the address of this request; an empty list allows requests from any address.
     *
     * @maxItems 50
     */
    networks: string[];
  };
}
/** The parameters of `setAuditRetention`. */
export interface SetAuditRetentionParameters {
  /** Days, from 30 to 3,650. */
  days: number;
}
/** The parameters of `setAuditStream`. */
export interface SetAuditStreamParameters {
  /** The destination. */
  input: {
    /** An https URL of a public host, or `s3://bucket/prefix?region=REGION`, with `endpoint` and `path-style` for a server other than Amazon’s. */
    address: string;
    /** The token for an https URL, sent as `Authorization: Bearer`. If it is absent, the stored token is kept while the host is unchanged; for another host, a token is created. */
    token?: string;
    /** The access key for a bucket, which must allow `s3:PutObject`. Absent keeps the stored key if the bucket is unchanged. */
    accessKeyId?: string;
    /** The secret of the access key. */
    secretAccessKey?: string;
    /** The number after which deliveries begin. Absent means that deliveries continue after the last accepted entry or, without a previous destination, begin with the first entry. */
    after?: number;
  };
}
/** The parameters of `setDirectoryGroupRole`. */
export interface SetDirectoryGroupRoleParameters {
  /** The `id` of the group. */
  directoryGroupId: string;
  /** The role; null means that the group gives none. */
  role?: 'admin' | 'member' | 'viewer';
}
/** The parameters of `setIntegrationModels`. */
export interface SetIntegrationModelsParameters {
  /** An integration of the organization. */
  integrationId: string;
  /** The new models. */
  input: {
    /**
     * All models of the connector: at most 50; an empty list for none.
     *
     * @maxItems 50
     *
     * Items: A model of the connector.
     */
    models: {
      /** The id of the model at the server: 1 to 100 characters, unique in the organization. */
      id: string;
      /** The display name, 1 to 120 characters. */
      name: string;
      /** Prices of a call. */
      prices: {
        /** Price of input tokens: US dollars per million, 0 to 10,000. */
        input: number;
        /** Price of output tokens: US dollars per million, 0 to 10,000. */
        output: number;
        /** Price of tokens read from the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
        cacheRead?: number | null;
        /** Price of tokens written to the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
        cacheWrite?: number | null;
      };
    }[];
  };
}
/** The parameters of `setProjectConnectors`. */
export interface SetProjectConnectorsParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The connectors to change. */
  input: {
    /** The connector of the tracker; null for the built-in tracker. If you choose another tracker and name no team in `trackerTeamKey`, the project has no team afterwards. */
    trackerConnectorId?: string | null;
    /** The key of the team in the tracker. */
    trackerTeamKey?: string | null;
    /** The connector of the source host. */
    scmConnectorId?: string;
    /** The connector of the language model. */
    llmConnectorId?: string;
  };
}
/** The parameters of `setProjectEffectPolicy`. */
export interface SetProjectEffectPolicyParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The policy; absent means that nothing waits. */
  policy?: {
    /**
     * Kinds of outside effects that wait for approval.
     *
     * @maxItems 5
     *
     * Items: The kind of an action that a mission performs in another system.
     */
    waits: ('push' | 'pull_request' | 'comment' | 'tracker' | 'mcp_call')[];
    /**
     * Tools whose calls need no approval: `server` or `server.tool`, at most 100.
     *
     * @maxItems 100
     */
    allowedTools?: string[];
  };
}
/** The parameters of `setProjectTeam`. */
export interface SetProjectTeamParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** True adds a planner, a reviewer and QA: for each role an agent of the organization or, without one, the built-in agent. False adds none of them. Null adds only those of the three roles for which the organization has an agent of its own. */
  hasTeam?: boolean;
}
/** The parameters of `setPullRequestLoop`. */
export interface SetPullRequestLoopParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** Maximum number of times that events of a pull request continue its mission; with 0, they never do. Allowed: 0 to 50. */
  rounds: number;
  /** Number of hours after the start of the mission during which events of a pull request can continue the mission. Allowed: 1 to 2,160. */
  hours: number;
  /** Total cost of all missions of a pull request, in US dollars. When this cost is reached, events of the pull request no longer continue the mission. Allowed: 0.01 to 10,000. Absent means no limit. */
  costUsd?: number;
}
/** The parameters of `setRecordingSettings`. */
export interface SetRecordingSettingsParameters {
  /** Whether the calls of missions are recorded. */
  isEnabled: boolean;
  /** Days after which a recorded call is deleted, from 1 to 365. */
  days: number;
}
/** The parameters of `setRetentionSettings`. */
export interface SetRetentionSettingsParameters {
  /** Days from the end of a mission until its details are deleted: steps, messages, logs, sandboxes, artifacts and recordings. Its result, cost and attestations are kept. Null means that only the settings of logs, artifacts and sandboxes apply. From 14 to 3,650. */
  runDays?: number;
  /** Days from the end of a mission until its logs and transcript are deleted; null keeps them as long as their sandboxes. From 14 to 3,650. */
  logDays?: number;
  /** Days from the end of a mission until its artifacts are deleted; null keeps them for 90 days. From 14 to 90. */
  artifactDays?: number;
  /** Days from the end of a mission until its sandboxes are deleted, with their logs; null keeps them. From 14 to 3,650. */
  sandboxDays?: number;
}
/** The parameters of `setRunBudget`. */
export interface SetRunBudgetParameters {
  /** The id of the run. */
  runId: string;
}
/** The body of `PUT /runs/{runId}/budget`. */
export interface SetRunBudgetRequest {
  /** US dollars: 0.01 to 10000, and at least the current cost of the run. */
  budgetUsd: number;
}
/** The parameters of `setRunLimits`. */
export interface SetRunLimitsParameters {
  /** The id of the run. */
  runId: string;
}
/** The body of `PUT /runs/{runId}/limits`. */
export interface SetRunLimitsRequest {
  /** Maximum number of minutes that the mission may use its sandbox: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxMinutes?: number | null;
  /** Maximum number of model calls of the mission: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxModelCalls?: number | null;
  /** Maximum total number of input, output and cached tokens that the mission may use: 1000 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxTokens?: number | null;
}
/** The first mission of the organization. */
export interface SetupFirstMission {
  /** The issue of the mission, as the tracker names it. */
  issueId: string;
  /** The slug of the organization. */
  orgSlug: string;
  /** The page of the mission’s run in the console. */
  url: string;
}
/** Milestones that belong together. */
export interface SetupGroup {
  /** The id of the group. */
  id: 'first_mission' | 'team' | 'explore';
  /** Name for people; programs use the id. */
  name: string;
  /** Number of milestones that are done. */
  reachedCount: number;
  /** Total number of milestones. */
  totalCount: number;
  /** The milestones, in the order in which to do them. */
  milestones: SetupMilestone[];
}
/** A step of setup. It is reached when its event has occurred. */
export interface SetupMilestone {
  /** The id of the milestone. */
  id:
    | 'workspace'
    | 'first_mission'
    | 'first_review'
    | 'first_merge'
    | 'preview_deployment'
    | 'agent_instructions'
    | 'mcp_servers'
    | 'custom_sandbox'
    | 'teammate'
    | 'steer_mission'
    | 'checkpoints'
    | 'scheduled_task'
    | 'agent_to_pr';
  /** The step as an instruction, for display. */
  name: string;
  /** State of the milestone. A milestone that was reached is `done`, regardless of its mark. */
  state: 'open' | 'done' | 'skipped';
  /** When the milestone was reached or marked as done; null until then. */
  reachedAt: number | null;
}
/** Progress of a group of milestones. */
export interface SetupGroupProgress {
  /** Number of milestones that are done. */
  reachedCount: number;
  /** Total number of milestones. */
  totalCount: number;
}
/** Progress of the caller in a guide through the console. */
export interface SetupGuide {
  /** The id of the guide. */
  id: 'mission-control' | 'mission-detail' | 'mission-results';
  /** The step that was last shown; 0 at the beginning. */
  step: number;
  /** When the guide was completed; null until then. */
  completedAt: number | null;
}
/** Progress of an organization in setting up the service. */
export interface SetupProgress {
  /** The id of the organization; starts with `org_`. */
  orgId: string;
  /** Number of milestones that are done. */
  reachedCount: number;
  /** Total number of milestones. */
  totalCount: number;
  /** Whether every milestone is done or skipped. */
  complete: boolean;
  /** The first open milestone; null without one. */
  next:
    | 'workspace'
    | 'first_mission'
    | 'first_review'
    | 'first_merge'
    | 'preview_deployment'
    | 'agent_instructions'
    | 'mcp_servers'
    | 'custom_sandbox'
    | 'teammate'
    | 'steer_mission'
    | 'checkpoints'
    | 'scheduled_task'
    | 'agent_to_pr'
    | null;
  /** The group of `next`; null when no milestone is open. */
  activeGroup: 'first_mission' | 'team' | 'explore' | null;
  /** How many milestones of `activeGroup` are done, and how many milestones the group has; null when no milestone is open. */
  activeGroupProgress: SetupGroupProgress | null;
  /** The groups of milestones, in the recommended order. */
  groups: SetupGroup[];
  /** The oldest mission of the organization that has begun. A mission has begun when its run has an issue. Null until a mission has begun. */
  firstMission: SetupFirstMission | null;
  /** Progress of the caller in each guide through the console; step 0 for a caller that is not a person. */
  guides: SetupGuide[];
}
/** A domain of email addresses. Its provider signs people in once the organization has verified the domain with a TXT record. */
export interface SignInDomain {
  /** The id, which starts with `dom_`. */
  id: string;
  /** The organization of the domain. */
  orgId: string;
  /** The domain in lower case; internationalized ones in Punycode. */
  domain: string;
  /** The name at which the TXT record is read. */
  recordName: string;
  /** The value of the TXT record. */
  recordValue: string;
  /** The provider that signs in people with addresses of the domain; null without one. */
  providerId: string | null;
  /** Whether members with an address of the domain reach the organization in the console only after they sign in through one of its providers. */
  required: boolean;
  /** When the domain was verified; null before that, and after its TXT record was missing for a week. */
  verifiedAt: number | null;
  /** When the record was last looked for; null before the first check. */
  checkedAt: number | null;
  /** When the record of a verified domain was first found missing; null while the record exists. */
  missingSince: number | null;
  /** When the domain was added. */
  createdAt: number;
}
/** The domains of an organization. */
export interface SignInDomainList {
  /** The domains by name. */
  domains: SignInDomain[];
}
/** The parameters of `slugAvailability`. */
export interface SlugAvailabilityParameters {
  /** The slug to check. */
  slug: string;
}
/** Whether a slug is free at this moment; it is not reserved. */
export interface SlugAvailabilityResponse {
  /** The slug that was checked. */
  slug: string;
  /** Whether no organization has the slug. */
  available: boolean;
  /** The nearest free slug; null when the checked one is free. */
  suggestion: string | null;
}
/** The parameters of `slugPreview`. */
export interface SlugPreviewParameters {
  /** A name, 1 to 120 characters. */
  name: string;
}
/** A slug derived from a name; it is not reserved. */
export interface SlugPreviewResponse {
  /** The slug, 1 to 64 lower-case letters, digits and hyphens. */
  slug: string;
}
/** The parameters of `startAgentTrial`. */
export interface StartAgentTrialParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
  /** The trial. */
  input: {
    /** The share of the missions in percent: 1 to 99. */
    percent: number;
    /** The number of an existing version; must be absent if `changes` is present. */
    number?: number | null;
    /** The changed settings of a new version; must be absent if `number` is present. */
    changes?: {
      /** The program that drives the agent’s model. */
      harness?: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
      /** One of the models of the harness. */
      model?: string;
      /** The working environment of the agent. */
      sandbox?: {
        /** Always `existing`. */
        kind: 'existing';
        /** A sandbox template of the organization, or `standard` to use the project’s template. */
        templateId: string;
      };
      /** Reasoning effort of the model; null means the harness decides. */
      effort?: ('low' | 'medium' | 'high') | null;
      /** Instructions in addition to the issue: at most 20,000 characters. */
      userPrompt?: string | null;
      /**
       * `<owner>/<repo>` of repositories with skills: at most 20.
       *
       * @maxItems 20
       */
      skillRepos?: string[];
    } | null;
    /** Reason for the change, shown in the list of versions: 1 to 500 characters. */
    note?: string | null;
  };
}
/** The parameters of `startMcpOAuth`. */
export interface StartMcpOAuthParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
  /** The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
  serverName: string;
}
/** The path of the console to which the person returns after signing in to the server. */
export interface StartMcpOAuthRequest {
  /** The path of the console that the person returns to afterwards. */
  returnTo?: string;
}
/** The body of `POST /runs`. */
export interface StartMissionRequest {
  /** The project in whose repository the mission works. */
  projectId: string;
  /** The task for the agent: 1 to 20000 characters. */
  prompt: string;
  /** The only agent that may work on the mission. Absent means any agent that has a model; if there is none, the response is a 409. An agent with the harness `shell`, such as `agn_builtin_shell`, runs the prompt as a POSIX shell script. */
  agentId?: string | null;
  /** An issue of the project’s tracker to work on, by its id or name: `WEB-12`, or `#12` on GitHub. Absent means that one is created. */
  issue?: string | null;
  /** Whether a person must approve the plan of the mission, if it has one. Absent means the setting of the orchestrator. */
  planApproval?: boolean | null;
  /** Budget of the mission in US dollars, 0.01 to 10,000. If the next model call or minute would exceed the budget, the mission waits until a person raises the budget. Absent means that only the plan and the credits of the organization limit the mission. */
  budgetUsd?: number | null;
  /** The instance type of the mission: its CPUs, memory and disk. The mission waits until a runtime has room for them. Absent means the instance type in its sandbox template. */
  instanceType?: ('lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4') | null;
  /** Maximum number of minutes that the mission may use its sandbox: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxMinutes?: number | null;
  /** Maximum number of model calls of the mission: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxModelCalls?: number | null;
  /** Maximum total number of input, output and cached tokens that the mission may use: 1000 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxTokens?: number | null;
}
/** The parameters of `startMissions`. */
export interface StartMissionsParameters {
  /** The issues and settings. */
  input: {
    /**
     * The issues, 1 to 50.
     *
     * @minItems 1
     * @maxItems 50
     *
     * Items: An issue to start a mission on.
     */
    issues: {
      /** The project whose tracker has the issue. */
      projectId: string;
      /** The issue by its id or name: `WEB-12`, or `#12` on GitHub. */
      issue: string;
    }[];
    /** The task for each issue, in addition to the issue’s text. If the prompt is absent, the task is to solve the issue. */
    prompt?: string | null;
    /** The only agent that may work on the missions. Absent means any agent that has a model. */
    agentId?: string | null;
    /** Whether a person must approve each plan. Absent means the setting of the orchestrator. */
    planApproval?: boolean | null;
    /** Budget of each mission in US dollars, 0.01 to 10,000. Absent means that only the credits limit it. */
    budgetUsd?: number | null;
    /** CPUs, memory and disk of each mission. Absent means the instance type in the sandbox template of the mission. */
    instanceType?: ('lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4') | null;
    /** Maximum number of minutes that the mission may use its sandbox: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
    maxMinutes?: number | null;
    /** Maximum number of model calls of the mission: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
    maxModelCalls?: number | null;
    /** Maximum total number of input, output and cached tokens that the mission may use: 1000 to the maximum of the installation (`agentCatalog.missionBounds`). */
    maxTokens?: number | null;
  };
}
/** The result of starting one mission on each of several issues. */
export interface StartMissionsResponse {
  /** One entry for each issue, in the order of the request. */
  starts: StartOnIssue[];
}
/** The mission that was started on one issue, or the reason why it could not start. */
export interface StartOnIssue {
  /** The project of the issue; starts with `prj_`. */
  projectId: string;
  /** The issue, as the request names it. */
  issue: string;
  /** The started run; null when it could not start. */
  runId: string | null;
  /** Explanation for people why the mission could not start; null for a started run. */
  reason: string | null;
}
/** The parameters of `submitReview`. */
export interface SubmitReviewParameters {
  /** The review. */
  input: {
    /** The run whose change was reviewed. */
    runId: string;
    /** The commit that you have reviewed: `outcome.headSha` of the run. */
    headSha: string;
    /** The verdict. */
    verdict: 'approve' | 'request_changes' | 'comment';
    /** Your text about the whole change. */
    body?: string;
    /**
     * Comments on lines, at most 100.
     *
     * @maxItems 100
     *
     * Items: A comment on lines of the change.
     */
    comments?: {
      /** The path of the file in the repository. */
      path: string;
      /** The version of the file to which the lines belong. */
      side: 'old' | 'new';
      /** The first line, if the comment belongs to several lines; absent means one line. */
      startLine?: number | null;
      /** The line to which the comment belongs; for several lines, the last line. */
      line: number;
      /** The lines as you saw them, for the agent. */
      quote?: string;
      /** The comment. */
      body: string;
    }[];
    /** An id that you choose for the review: a repeated request with the same id changes nothing. */
    reviewId?: string | null;
  };
}
/** The subscription after the change. */
export interface SubscriptionResponse {
  subscription: TeamSubscription;
}
/** A shell of a person in the sandbox of a running mission. Its output is recorded as an artifact of the run, with secrets masked. */
export interface Terminal {
  /** The id, which starts with `trm_`. Only the person who has opened the terminal can use it. */
  id: string;
  /** The id of the run. */
  runId: string;
  /** The name of the person. */
  author: string;
  /** Status of the terminal. */
  status: 'requested' | 'open' | 'ended';
  /** Whether the shell has a terminal device. Without one, it has no line editing and no signals. Null until the shell has started. */
  hasDevice: boolean | null;
  /** Characters per line. */
  width: number;
  /** Number of lines. */
  height: number;
  /** Why the terminal has ended; null while it has not. */
  reason: string | null;
  /** When the terminal was requested. */
  createdAt: number;
}
/** Output of a terminal since the last event. */
export interface TerminalUpdate {
  terminal: Terminal;
  /** The output since the last event, with control sequences. */
  output: string;
  /** Number of the next piece of output, to send as `after`. */
  nextOutput: number;
  /** Whether output before this was dropped, because the reader was slower than the shell. */
  isCut: boolean;
}
/** The parameters of `terminalUpdated`. */
export interface TerminalUpdatedParameters {
  /** The id of a terminal that the caller has opened. */
  terminalId: string;
  /** The `nextOutput` of the last event received; without it, the stream begins with the kept output. */
  after?: number;
}
/** The parameters of `testWebhookEndpoint`. */
export interface TestWebhookEndpointParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** The parameters of `unbindChatChannel`. */
export interface UnbindChatChannelParameters {
  /** The id of the chat’s connector. */
  chatId: string;
  /** The vendor’s id of the channel, such as `C0123456789`. */
  channelId: string;
}
/** Confirms that the call succeeded. */
export interface UnbindChatChannelResponse {
  /** Always true: a call that fails returns an error instead. */
  ok: true;
  /** The record that the call changed. */
  id: string;
}
/** The parameters of `unfollowRun`. */
export interface UnfollowRunParameters {
  /** The id of the run. */
  runId: string;
}
/** The parameters of `unlinkAccount`. */
export interface UnlinkAccountParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
  /** A member of the organization. */
  userId: string;
  /** The vendor of the account. */
  vendor: string;
  /** The host of the account. */
  host: string;
}
/** The next occurrence of a scheduled task or an automation. */
export interface UpcomingOccurrence {
  /** When the occurrence is due; in the past while its run is being created. */
  at: number;
  /** The name of the scheduled task or automation. */
  name: string;
  /** The project in whose repository the mission works. */
  projectId: string;
  /** The id of the scheduled task; null for an automation. */
  scheduledTaskId: string | null;
  /** The id of the automation; null for a scheduled task. */
  automationId: string | null;
}
/** The next occurrences. */
export interface UpcomingOccurrenceList {
  /** The occurrences, soonest first. */
  data: UpcomingOccurrence[];
}
/** The parameters of `upcomingOccurrences`. */
export interface UpcomingOccurrencesParameters {
  /** Only occurrences of this project. */
  projectId?: string;
  /** Number of occurrences, 1 to 50. */
  limit?: number;
}
/** The parameters of `updateAgent`. */
export interface UpdateAgentParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  agentId: string;
}
/** Omitted members stay unchanged. */
export interface UpdateAgentRequest {
  /** 1 to 120 characters; unique in the organization. */
  name?: string;
  /** The role of the agent in a mission. */
  role?: 'planner' | 'builder' | 'reviewer' | 'qa' | 'researcher';
  /** The program that drives the agent’s model. */
  harness?: 'claude-code' | 'codex' | 'opencode' | 'acp' | 'shell';
  /** One of the models of the harness. */
  model?: string;
  /** The working environment of the agent. */
  sandbox?: {
    /** Always `existing`. */
    kind: 'existing';
    /** A sandbox template of the organization, or `standard` to use the project’s template. */
    templateId: string;
  };
  /** Reasoning effort of the model; null means the harness decides. */
  effort?: ('low' | 'medium' | 'high') | null;
  /** Instructions in addition to the issue: at most 20,000 characters. */
  userPrompt?: string | null;
  /**
   * `<owner>/<repo>` of repositories with skills: at most 20.
   *
   * @maxItems 20
   */
  skillRepos?: string[];
}
/** The parameters of `updateAutomation`. */
export interface UpdateAutomationParameters {
  /** The id of the automation. */
  automationId: string;
}
/** The settings to change. */
export interface UpdateBillingSettingsRequest {
  /** The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule. */
  trackerTriggers: 'anyone' | 'members' | 'off';
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: string;
}
/** The parameters of `updateBudget`. */
export interface UpdateBudgetParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  budgetId: string;
}
/** Omitted members stay unchanged. */
export interface UpdateBudgetRequest {
  /** US dollars in each period: 0.01 to 1000000, rounded to a hundredth of a cent. */
  amountUsd?: number;
}
/** The parameters of `updateIdentityProvider`. */
export interface UpdateIdentityProviderParameters {
  /** The id of the provider. */
  providerId: string;
  /** The changes. */
  input: {
    /** The name on the sign-in page, 1 to 120 characters. */
    name?: string;
    /** The issuer, an https URL of a public host. */
    issuer?: string;
    /** The client id at the provider. */
    clientId?: string;
    /** The client secret, which is stored encrypted. */
    clientSecret?: string;
    /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
    defaultRole?: ('owner' | 'admin' | 'member' | 'viewer') | null;
  };
}
/** The parameters of `updateInboundHook`. */
export interface UpdateInboundHookParameters {
  /** The id of the hook. */
  hookId: string;
}
/** Omitted fields keep their value. */
export interface UpdateInboundHookRequest {
  /** The name, 1 to 120 characters. */
  name?: string;
  /** Whether events of the hook start missions; a disabled hook still stores its events. */
  enabled?: boolean;
}
/** The parameters of `updateIssueComment`. */
export interface UpdateIssueCommentParameters {
  /** The id of the comment. */
  issueCommentId: string;
  /** The text in Markdown, 1 to 8,000 characters. */
  body: string;
}
/** The parameters of `updateIssue`. */
export interface UpdateIssueParameters {
  /** The id of the issue. */
  issueId: string;
  /** The changes. */
  input: {
    /** The title in one line, 1 to 200 characters. */
    title?: string;
    /** The task in Markdown, at most 20000 characters. Agents get it as quoted text. */
    body?: string;
    /**
     * At most 20 labels.
     *
     * @maxItems 20
     */
    labels?: string[];
    /** `closed` cancels the mission of the issue; `open` starts none. */
    state?: 'open' | 'closed';
  };
  /** The `updatedAt` of the record as the caller read it: if the record has changed since, the response is a 409 and nothing changes. */
  ifUpdatedAt?: number;
}
/** The parameters of `updateMembership`. */
export interface UpdateMembershipParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
  /** An unknown id, or an id of another organization, returns 404. */
  userId: string;
}
/** Another role for a member. */
export interface UpdateMembershipRequest {
  /** A role that is not above the caller’s own. */
  role: 'owner' | 'admin' | 'member' | 'viewer';
}
/** The parameters of `updateMissionView`. */
export interface UpdateMissionViewParameters {
  /** The id of the view. */
  viewId: string;
  /** The whole view. */
  input: {
    /** The name, 1 to 80 characters. */
    name: string;
    /** How the missions are shown. */
    layout: 'list' | 'board';
    /** The groups; absent for none. */
    groupBy?: ('status' | 'project' | 'agent' | 'person') | null;
    /** The filters; an absent one means any. */
    filters: {
      /** The words. */
      search?: string | null;
      /** The project. */
      projectId?: string | null;
      /** The status. */
      status?: ('dispatching' | 'running' | 'completed' | 'failed' | 'skipped' | 'canceled') | null;
      /** The agent. */
      agentId?: string | null;
      /** The person. */
      personId?: string | null;
      /** Whether the schedule or a person started the missions. */
      kind?: ('scheduled' | 'manual') | null;
      /** True: only missions that the person follows. */
      followed?: boolean | null;
      /** True: only missions that wait for a person to act. */
      needsPerson?: boolean | null;
    };
  };
}
/** Omitted members stay unchanged; null restores the default. */
export interface UpdateOrchestratorRequest {
  /** The name, 1 to 120 characters; null means the default. */
  name?: string | null;
  /** The description, at most 500 characters; null means the default. */
  blurb?: string | null;
  /** One of `modelsByVendor`. Null means the default model or, if `vendor` is set, the first model of this vendor. */
  model?: string | null;
  /** The vendor of the model. If `model` is absent, the first model of this vendor is used. */
  vendor?: 'anthropic' | 'openai';
  /** An integration of the kind llm, or null. */
  llmConnectorId?: string | null;
  /** Whether the orchestrator may ask its model. */
  inferenceEnabled?: boolean;
  /** Whether a person has to approve each plan before an agent follows it. */
  planApproval?: boolean;
  /** 0, or 0.0001 to 1000000, rounded to a hundredth of a cent; null means the default. At 0 no mission starts. */
  dailyCostCapUsd?: number | null;
}
/** The parameters of `updateOrganization`. */
export interface UpdateOrganizationParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  orgId: string;
}
/** Omitted members stay unchanged. */
export interface UpdateOrganizationRequest {
  /** The name, 1 to 120 characters. */
  name?: string;
  /** The slug, 1 to 64 lower-case letters, digits and hyphens; unique. */
  slug?: string;
}
/** The parameters of `updateProjectMcp`. */
export interface UpdateProjectMcpParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
}
/** The path of a project’s config file. */
export interface UpdateProjectMcpRequest {
  /** Path of the config file from the top of the repository; null means `service.yml`. */
  configPath?: string | null;
}
/** The parameters of `updateProject`. */
export interface UpdateProjectParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  projectId: string;
}
/** Omitted members stay unchanged. */
export interface UpdateProjectRequest {
  /** The name, 1 to 120 characters. */
  name?: string;
  /** Status of the project. Missions start only while the project is `active`. */
  status?: 'active' | 'paused' | 'archived';
  /** Whether an approved change merges without a person. */
  autoMerge?: boolean;
  /** The prefix of issue keys: 2 to 10 capital letters or digits, beginning with a letter; or null. */
  issueCode?: string | null;
  /** A sandbox template of the organization, or `standard`; null also means `standard`. */
  defaultSandboxTemplateId?: string | null;
  /** The key of the team in the tracker. */
  trackerTeamKey?: string;
  /** The repository, `<owner>/<repo>`. */
  repoFullName?: string;
}
/** The parameters of `updateSandboxTemplate`. */
export interface UpdateSandboxTemplateParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  templateId: string;
}
/** Omitted fields keep their value. */
export interface UpdateSandboxTemplateRequest {
  /** 1 to 120 characters; unique in the organization. */
  name?: string;
  /** Purpose of the template. */
  description?: string | null;
  /** Source of a sandbox. */
  base?: 'machine' | 'image' | 'dockerfile';
  /** A container image: required with the base `image`, not allowed with any other. */
  image?: string | null;
  /** A Dockerfile: required with the base `dockerfile`, not allowed with any other. */
  dockerfile?: string | null;
  /** A POSIX shell script that prepares the environment, in the checkout. */
  setupScript?: string | null;
  /**
   * At most 50 variables, whose values are not secret.
   *
   * @maxItems 50
   *
   * Items: A variable of the environment.
   */
  variables?: {
    /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
    name: string;
    /** The value, at most 4000 characters. */
    value: string;
  }[];
  /**
   * At most 5 services, which need a runtime with containers.
   *
   * @maxItems 5
   *
   * Items: A container that runs next to each mission.
   */
  services?: {
    /** The name, 1 to 30 lower-case letters, digits and hyphens; unique in the template. */
    name: string;
    /** A container image. */
    image: string;
    /**
     * At most 50 variables, whose values are not secret.
     *
     * @maxItems 50
     *
     * Items: A variable of the environment.
     */
    variables?: {
      /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
      name: string;
      /** The value, at most 4000 characters. */
      value: string;
    }[];
    /** Arguments that replace the command of the image; null means the command of the image. */
    command?: string[] | null;
    /** Shell command in the container that succeeds once the service is ready; null means that the service is ready once its container has run for two seconds. */
    healthCheck?: string | null;
  }[];
  /** The network policy while the environment is prepared. */
  setupNetwork?: {
    /** Set of hosts that the policy allows. */
    mode: 'none' | 'packages' | 'custom' | 'open';
    /**
     * Hosts that a policy `custom` or `packages` adds: at most 100.
     *
     * @maxItems 100
     *
     * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
     */
    hosts?: string[];
  };
  /** The network policy while agents and scripts work. */
  agentNetwork?: {
    /** Set of hosts that the policy allows. */
    mode: 'none' | 'packages' | 'custom' | 'open';
    /**
     * Hosts that a policy `custom` or `packages` adds: at most 100.
     *
     * @maxItems 100
     *
     * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
     */
    hosts?: string[];
  };
  /**
   * At most 20 labels of 1 to 63 lowercase letters, digits, ".", "_" and "-".
   *
   * @maxItems 20
   */
  labels?: string[];
  /** The size of missions that start without a chosen size. `memoryMb` and `diskMb` override the memory and disk space of the size. */
  instanceType?: ('lite' | 'basic' | 'standard-1' | 'standard-2' | 'standard-4') | null;
  /** Maximum memory of a mission in MiB: 64 to 262,144; null means that the template sets no limit. */
  memoryMb?: number | null;
  /** Maximum disk space of a mission in MiB: 256 to 1,048,576; null means that the template sets no limit. */
  diskMb?: number | null;
  /** Maximum number of processes of a mission: 16 to 32,768; null means that the template sets no limit. */
  processes?: number | null;
  /** Maximum number of minutes of a step: 1 to 1,440; null means that the template sets no limit. */
  stepMinutes?: number | null;
  /** Maximum number of model calls of a step: 1 to 1,000; null means that the template sets no limit. */
  stepModelCalls?: number | null;
  /** Maximum number of tokens of a step: 1,000 to 1,000,000,000; null means that the template sets no limit. */
  stepTokens?: number | null;
  /** Maximum number of minutes that a mission may use its sandbox: 1 to 43,200; null means that the template sets no limit. */
  maxMinutes?: number | null;
  /** Maximum number of model calls of a mission: 1 to 1,000,000; null means that the template sets no limit. */
  maxModelCalls?: number | null;
  /** Maximum number of tokens of a mission: 1,000 to 2,000,000,000; null means that the template sets no limit. */
  maxTokens?: number | null;
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy?: {
    /**
     * Kinds of outside effects that wait for approval.
     *
     * @maxItems 5
     *
     * Items: The kind of an action that a mission performs in another system.
     */
    waits: ('push' | 'pull_request' | 'comment' | 'tracker' | 'mcp_call')[];
    /**
     * Tools whose calls need no approval: `server` or `server.tool`, at most 100.
     *
     * @maxItems 100
     */
    allowedTools?: string[];
  } | null;
}
/** The parameters of `updateScheduledTask`. */
export interface UpdateScheduledTaskParameters {
  /** The id of the scheduled task. */
  id: string;
}
/** Omitted fields keep their value. */
export interface UpdateScheduledTaskRequest {
  /** Moves the mission to this project; its earlier runs stay in their project. */
  projectId?: string;
  /** The name, 1 to 120 characters. */
  name?: string;
  /** The task for the agent: 1 to 20,000 characters. */
  prompt?: string;
  /** The key of a template. With `script` the prompt is a POSIX shell script, and no model is used. */
  templateKey?:
    | (
        | 'dependency-updates'
        | 'security-review'
        | 'flaky-tests'
        | 'issue-triage'
        | 'release-notes'
        | 'documentation-check'
        | 'script'
      )
    | null;
  /**
   * 1 to 10 schedules; each occurrence of any of them starts a mission. The list may be empty only if there are event triggers.
   *
   * @maxItems 10
   *
   * Items: A schedule that starts missions.
   */
  triggers?: {
    /** Always `schedule`. */
    kind: 'schedule';
    /** The times at which missions start. */
    schedule: {
      /** Interval between occurrences. */
      interval: 'daily' | 'weekly' | 'monthly';
      /** Time of day HH:MM, 00:00 to 23:59. */
      time: string;
      /** An IANA time zone such as Europe/Berlin. */
      timezone: string;
      /** Required when `interval` is weekly. */
      weekday?: ('monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday') | null;
      /** Day of the month, 1 to 31; required when `interval` is monthly. */
      dayOfMonth?: number | null;
    };
  }[];
  /**
   * Labels that each issue gets, at most 20.
   *
   * @maxItems 20
   */
  labels?: string[];
  /** Whether an occurrence is skipped while an earlier run is open. */
  skipIfPreviousOpen?: boolean;
  /** Whether the schedule is active. */
  enabled?: boolean;
}
/** The parameters of `updateSecret`. */
export interface UpdateSecretParameters {
  /** An unknown id, or an id of another organization, returns 404. */
  secretId: string;
}
/** Omitted fields keep their value. */
export interface UpdateSecretRequest {
  /** 1 to 16,384 characters; a secret has at least 8. The value cannot be read again. */
  value?: string;
  /**
   * Hosts to which request headers may carry the secret: at most 20. The network policy must allow these hosts too. Not allowed for a variable.
   *
   * @maxItems 20
   *
   * Items: `host` or `*.host`, optionally followed by `:port` to allow only that port.
   */
  hosts?: string[];
  /** Whether only the setup gets the secret; such a secret has no hosts. */
  setupOnly?: boolean;
}
/** The parameters of `updateSetupGroup`. */
export interface UpdateSetupGroupParameters {
  /** A `SetupGroupId`. Any other value returns 404. */
  groupId: string;
}
/** Marks the open milestones of a group. */
export interface UpdateSetupGroupRequest {
  /** The mark to set on the open milestones of a group. */
  mark: 'done' | 'skipped' | 'reset';
}
/** The parameters of `updateSetupGuide`. */
export interface UpdateSetupGuideParameters {
  /** A `SetupGuideId`. Any other value returns 404. */
  guideId: string;
}
/** Progress of the caller in a guide. */
export interface UpdateSetupGuideRequest {
  /** The step that is shown, 0 to 20. */
  step: number;
  /** Whether the guide is completed; false opens it again. */
  completed?: boolean;
}
/** The parameters of `updateSetupMilestone`. */
export interface UpdateSetupMilestoneParameters {
  /** A `SetupMilestoneId`. Any other value returns 404. */
  milestoneId: string;
}
/** Marks a milestone. */
export interface UpdateSetupMilestoneRequest {
  /** The mark to set on a milestone. */
  mark: 'done' | 'skipped' | 'reset';
}
/** The parameters of `updateSignInDomain`. */
export interface UpdateSignInDomainParameters {
  /** The id of the domain. */
  domainId: string;
  /** The changes. */
  input: {
    /** The provider of the domain; null for none. */
    providerId?: string | null;
    /** Whether members with an address of the domain must use the provider. */
    required?: boolean;
  };
}
/** Omitted fields keep their value. */
export interface UpdateSubscriptionRequest {
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: string;
  /** The plan from the next period on. */
  plan?: 'team-5' | 'team-20';
  /** Whether the subscription ends when its period ends; false lets it renew. */
  cancelAtPeriodEnd?: boolean;
}
/** The parameters of `updateWebhookEndpoint`. */
export interface UpdateWebhookEndpointParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** Omitted fields keep their value. */
export interface UpdateWebhookEndpointRequest {
  /** The name, 1 to 120 characters. */
  name?: string;
  /** An https URL of a public host. */
  url?: string;
  /**
   * At most 50 types, such as `run.completed`, or a kind of record and `.*` for all of its types. Empty for all.
   *
   * @maxItems 50
   */
  types?: string[];
  /**
   * At most 50 projects. Empty for all events of the organization.
   *
   * @maxItems 50
   */
  projectIds?: string[];
  /** Whether events are sent one after the other, in the order of their numbers: an event that fails delays all later ones, for three days at most. Otherwise, several events are sent at once. */
  ordered?: boolean;
  /** Whether events are sent. */
  enabled?: boolean;
}
/** The parameters of `verifySignInDomain`. */
export interface VerifySignInDomainParameters {
  /** The id of the domain. */
  domainId: string;
}
/** The parameters of `webhookDeliveries`. */
export interface WebhookDeliveriesParameters {
  /** The id of the endpoint. */
  endpointId: string;
  /** Only deliveries in this state. */
  status?: 'pending' | 'delivered' | 'failed';
  /** Only deliveries that were written at this time or later. */
  createdFrom?: number;
  /** Only deliveries that were written before this time. */
  createdBefore?: number;
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** An event that is sent to an endpoint, kept for 30 days. */
export interface WebhookDelivery {
  /** The id, which starts with `whd_`. */
  id: string;
  /** The organization of the delivery. */
  orgId: string;
  /** The endpoint. */
  endpointId: string;
  /** The number of the event in the log. */
  number: number;
  /** The header `webhook-id`, which is the same each time the event is sent. */
  messageId: string;
  /** The type of the event, such as `run.completed`. */
  type: string;
  /** The state of the delivery. */
  status: 'pending' | 'delivered' | 'failed';
  /** Number of attempts so far. */
  attempts: number;
  /** When the next attempt is due; null after the last one. */
  dueAt: number | null;
  /** When the last attempt ended; null before the first. */
  attemptedAt: number | null;
  /** Milliseconds that the last attempt took; null before the first. */
  durationMs: number | null;
  /** The body that is sent. */
  body: string;
  /** The status of the last response; null without one. */
  answerStatus: number | null;
  /** The first 4096 bytes of the last response; null without one. */
  answerBody: string | null;
  /** Why the last attempt got no complete response; null otherwise. */
  error: string | null;
  /** The id of an earlier delivery, if this delivery repeats that one; null otherwise. */
  resendOf: string | null;
  /** When the delivery was written. */
  createdAt: number;
}
/** One page of a list of WebhookDelivery records. */
export interface WebhookDeliveryPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: WebhookDelivery[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `webhookDelivery`. */
export interface WebhookDeliveryParameters {
  /** The id of the endpoint. */
  endpointId: string;
  /** The id of the delivery. */
  webhookDeliveryId: string;
}
/** A URL that gets events of the organization, signed as in Standard Webhooks. */
export interface WebhookEndpoint {
  /** The id, which starts with `whk_`. */
  id: string;
  /** The organization of the endpoint. */
  orgId: string;
  /** The name, 1 to 120 characters. */
  name: string;
  /** The URL that gets a POST for each event. */
  url: string;
  /** Types of events that are sent; empty for all. */
  types: string[];
  /** Projects whose events are sent; empty for all events of the organization. */
  projectIds: string[];
  /** Whether events are sent one after the other, in the order of their numbers. */
  ordered: boolean;
  /** Whether events are sent. An endpoint that is enabled again continues where it stopped. */
  enabled: boolean;
  /** When the endpoint was disabled; null while it is enabled. */
  disabledAt: number | null;
  /** Why the endpoint was disabled; null while it is enabled. */
  disabledReason: 'person' | 'gone' | 'failing' | null;
  /** When the attempts began to fail; null after a success. */
  failingSince: number | null;
  /** Number of the last event in the log that was read for the endpoint. */
  lastNumber: number;
  /** The person who created the endpoint; null when a program created it, and once the account is deleted. */
  createdByUserId: string | null;
  /** When the endpoint was created. */
  createdAt: number;
  /** When the endpoint was last changed. */
  updatedAt: number;
}
/** One page of a list of WebhookEndpoint records. */
export interface WebhookEndpointPage {
  /** Newest first, unless `order` specifies otherwise. */
  data: WebhookEndpoint[];
  /** Cursor of the next page, to send as `cursor`; null on the last page. */
  nextCursor: string | null;
}
/** The parameters of `webhookEndpoint`. */
export interface WebhookEndpointParameters {
  /** The id of the endpoint. */
  endpointId: string;
}
/** An endpoint with its secret, which is shown only once. */
export interface WebhookEndpointWithSecret {
  endpoint: WebhookEndpoint;
  /** The secret that verifies signatures, `whsec_` and base64. */
  secret: string;
}
/** The parameters of `webhookEndpoints`. */
export interface WebhookEndpointsParameters {
  /** Rows per page: 1 to 200. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}
/** The body of a webhook (Standard Webhooks). */
export interface WebhookMessage {
  /** The type of the event, as `noun.verb`: `run.completed`, `member.removed`. */
  type: string;
  /** When it happened, in UTC. */
  timestamp: string;
  data: FeedEvent;
}
/** The parameters of `withdrawOrder`. */
export interface WithdrawOrderParameters {
  /** The id of the order. */
  orderId: string;
}
/** A withdrawal from an order. */
export interface WithdrawalResponse {
  /** The id of the order; starts with `ord_`. */
  orderId: string;
  /** When the order was withdrawn. */
  submittedAt: number;
  /** Whole credits taken back, rounded down; the ledger has the exact amount. */
  creditsReversed: number;
  /** The refund, rounded up to the cent. */
  refundUsd: number;
  /** Always `completed`. */
  status: 'completed';
}
/** The parameters of `writeTerminal`. */
export interface WriteTerminalParameters {
  /** The id of a terminal that the caller has opened. */
  terminalId: string;
  /** Number of the piece, from 0 without a gap; a repeated piece changes nothing. The number is ignored if `text` is empty. */
  seq: number;
  /** The input, at most 4096 characters. */
  text: string;
}

/** The codes of errors; `/reference/errors` explains each. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthenticated'
  | 'credits_exhausted'
  | 'daily_cost_cap'
  | 'budget_exhausted'
  | 'plan_limit'
  | 'forbidden'
  | 'missing_scope'
  | 'address_not_allowed'
  | 'agent_not_claimed'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'record_changed'
  | 'model_required'
  | 'read_only'
  | 'organization_closed'
  | 'lease_lost'
  | 'gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'misdirected_request'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'internal'
  | 'upstream_failed'
  | 'unavailable'
  | 'organization_moving'
  | 'too_busy'
  | 'upstream_busy'
  | 'upstream_unavailable'
  | 'upstream_timeout';

/** The HTTP status of each code. In GraphQL, the response with the code has the status 200. */
export const errorStatuses = {
  invalid_request: 400,
  unauthenticated: 401,
  credits_exhausted: 402,
  daily_cost_cap: 402,
  budget_exhausted: 402,
  plan_limit: 402,
  forbidden: 403,
  missing_scope: 403,
  address_not_allowed: 403,
  agent_not_claimed: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  record_changed: 409,
  model_required: 409,
  read_only: 409,
  organization_closed: 409,
  lease_lost: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal: 500,
  upstream_failed: 502,
  unavailable: 503,
  organization_moving: 503,
  too_busy: 503,
  upstream_busy: 503,
  upstream_unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<ErrorCode, number>;

/** Each operation with its input and output. */
export interface Operations {
  /** Everybody who belongs to the organization. Requires the scope `members:read`. */
  memberships: { input: MembershipsParameters; output: MembershipList };
  /** Adds a person who has an account, with a role not above the caller’s own. Requires the scope `members:write`. */
  createMembership: { input: CreateMembershipParameters & CreateMembershipRequest; output: Membership };
  /** The organizations that the caller belongs to. Requires the scope `organizations:read`. */
  organizations: { input: {}; output: OrganizationList };
  /** Creates an organization. The person of the caller becomes its owner; any role in the current organization suffices. A token remains valid only for its own organization; the response says where a person can create a token for the new one. Requires the scope `organizations:write`. */
  createOrganization: { input: CreateOrganizationRequest; output: Organization };
  /** An organization of the caller by its id. Requires the scope `organizations:read`. */
  organization: { input: OrganizationParameters; output: Organization };
  /** Renames an organization or changes its slug. Requires the scope `organizations:write`. */
  updateOrganization: { input: UpdateOrganizationParameters & UpdateOrganizationRequest; output: Organization };
  /** The slug that an organization of this name would get now. Requires the scope `organizations:read`. */
  slugPreview: { input: SlugPreviewParameters; output: SlugPreviewResponse };
  /** Whether a slug is free; if it is not, also the nearest free slug. Requires the scope `organizations:read`. */
  slugAvailability: { input: SlugAvailabilityParameters; output: SlugAvailabilityResponse };
  /** All invites of the organization, newest first. Requires the scope `members:read`. */
  invites: { input: {}; output: InviteList };
  /** Invites an email address with a role not above the caller’s own, and sends an email to it. Requires the scope `members:write`. */
  createInvite: { input: CreateInviteRequest; output: Invite };
  /** The trackers, source hosts and language models that the organization has connected. Requires the scope `integrations:read`. */
  integrations: { input: {}; output: IntegrationList };
  /** The sandbox templates of the organization, newest first, then the built-in one. Requires the scope `agents:read`. */
  sandboxTemplates: { input: SandboxTemplatesParameters; output: SandboxTemplatePage };
  /** Creates a sandbox template, which projects and agents can choose. Requires the scope `agents:write`. */
  createSandboxTemplate: { input: CreateSandboxTemplateRequest; output: SandboxTemplate };
  /** A sandbox template by its id, which can be the id of the built-in template. Requires the scope `agents:read`. */
  sandboxTemplate: { input: SandboxTemplateParameters; output: SandboxTemplate };
  /** Changes a sandbox template. The change applies from the next step of each mission. Omitted fields keep their value. Requires the scope `agents:write`. */
  updateSandboxTemplate: { input: UpdateSandboxTemplateParameters & UpdateSandboxTemplateRequest; output: SandboxTemplate };
  /** Deletes a sandbox template. 409 while a project, an agent or an open mission uses it; the error names them. Requires the scope `agents:write`. */
  deleteSandboxTemplate: { input: DeleteSandboxTemplateParameters; output: DeleteSandboxTemplateResponse };
  /** The projects of the organization, newest first. Requires the scope `projects:read`. */
  projects: { input: ProjectsParameters; output: ProjectPage };
  /** Creates a project for a repository, with the connectors of the organization. Requires the scope `projects:write`. */
  createProject: { input: CreateProjectRequest; output: Project };
  /** A project by its id, even an archived one. Requires the scope `projects:read`. */
  project: { input: ProjectParameters; output: Project };
  /** Changes a project. Omitted fields keep their value; null clears optional fields. A project-bound credential may change only its own project. Requires the scope `projects:write`. */
  updateProject: { input: UpdateProjectParameters & UpdateProjectRequest; output: Project };
  /** Deletes a project and revokes the credentials bound to it. Requires the scope `projects:write`. */
  deleteProject: { input: DeleteProjectParameters; output: DeleteProjectResponse };
  /** The closure of an organization; 404 while it is open. Requires the scope `organizations:read`. */
  organizationClosure: { input: OrganizationClosureParameters; output: OrgClosure };
  /** The caller and what it may do. Open to every caller, including an unclaimed agent. Any credential may call this. */
  me: { input: {}; output: Me };
  /** Every scope, the role it requires, and whether the caller could grant it. Any credential may call this. */
  scopes: { input: {}; output: ScopeCatalog };
  /** Roles, harnesses with their models, the built-in agents and sandbox template, and instance types. Requires the scope `agents:read`. */
  agentCatalog: { input: {}; output: AgentCatalog };
  /** The organization’s own agents, newest first, then the built-in ones. Requires the scope `agents:read`. */
  agents: { input: AgentsParameters; output: AgentPage };
  /** Creates an agent with a role, a harness and a model of the catalog. Requires the scope `agents:write`. */
  createAgent: { input: CreateAgentRequest; output: Agent };
  /** An agent by its id: one of the organization, or a built-in one. Requires the scope `agents:read`. */
  agent: { input: AgentParameters; output: Agent };
  /** Changes an agent. Omitted members stay unchanged; null clears a nullable member. Changed settings are a new version. Requires the scope `agents:write`. */
  updateAgent: { input: UpdateAgentParameters & UpdateAgentRequest; output: Agent };
  /** Deletes an agent of the organization. A built-in agent cannot be deleted. Requires the scope `agents:write`. */
  deleteAgent: { input: DeleteAgentParameters; output: DeleteAgentResponse };
  /** Issues of the built-in tracker, of one project or of all projects. Requires the scope `missions:read`. */
  issues: { input: IssuesParameters; output: IssuePage };
  /** One issue of the built-in tracker. Requires the scope `missions:read`. */
  issue: { input: IssueParameters; output: Issue };
  /** Scheduled tasks, newest first; `projectId` limits them to one project. Requires the scope `scheduled-tasks:read`. */
  scheduledTasks: { input: ScheduledTasksParameters; output: ScheduledTaskPage };
  /** Creates a mission that starts on a schedule. Because it will start, the call requires `missions:run` in addition to its own scope. Requires the scope `scheduled-tasks:write`. */
  createScheduledTask: { input: CreateScheduledTaskRequest; output: ScheduledTask };
  /** Ready-made missions to create a scheduled task from. Requires the scope `scheduled-tasks:read`. */
  scheduledTaskTemplates: { input: {}; output: ScheduledTaskTemplateList };
  /** One scheduled task. Requires the scope `scheduled-tasks:read`. */
  scheduledTask: { input: ScheduledTaskParameters; output: ScheduledTask };
  /** Changes a scheduled task. Omitted fields keep their value. The time of the next run changes only if the triggers or `enabled` change. Without the scope `missions:run`, a caller cannot enable the task, or change its prompt, triggers, project or agent. Requires the scope `scheduled-tasks:write`. */
  updateScheduledTask: { input: UpdateScheduledTaskParameters & UpdateScheduledTaskRequest; output: ScheduledTask };
  /** Deletes a scheduled task and cancels its waiting runs; running missions continue. Requires the scope `scheduled-tasks:write`. */
  deleteScheduledTask: { input: DeleteScheduledTaskParameters; output: DeleteScheduledTaskResponse };
  /** The runs of a scheduled task, newest first. Requires the scope `scheduled-tasks:read`. */
  scheduledTaskRuns: { input: ScheduledTaskRunsParameters; output: ScheduledTaskRunPage };
  /** Automations, newest first; `projectId` limits them to one project. Requires the scope `automations:read`. */
  automations: { input: AutomationsParameters; output: AutomationPage };
  /** Creates a mission that starts on a schedule. Because it will start, the call requires `missions:run` in addition to its own scope. Requires the scope `automations:write`. */
  createAutomation: { input: CreateScheduledTaskRequest; output: Automation };
  /** Ready-made missions to create an automation from. Requires the scope `automations:read`. */
  automationTemplates: { input: {}; output: ScheduledTaskTemplateList };
  /** An automation by its id. Requires the scope `automations:read`. */
  automation: { input: AutomationParameters; output: Automation };
  /** Changes an automation. Omitted fields keep their value. The time of the next run changes only if the triggers or `enabled` change. Enabling it, or changing its prompt, triggers, project or agent, requires the scope `missions:run`. Requires the scope `automations:write`. */
  updateAutomation: { input: UpdateAutomationParameters & UpdateScheduledTaskRequest; output: Automation };
  /** Deletes an automation and cancels its waiting runs; running missions continue. Requires the scope `automations:write`. */
  deleteAutomation: { input: DeleteAutomationParameters; output: DeleteAutomationResponse };
  /** The runs of an automation, newest first. Requires the scope `automations:read`. */
  automationRuns: { input: AutomationRunsParameters; output: AutomationRunPage };
  /** The secrets and variables, newest first, without their values. Requires the scope `secrets:read`. */
  secrets: { input: SecretsParameters; output: SecretPage };
  /** Creates a secret or variable, which missions get from their next step on. Requires the scope `secrets:write`. */
  createSecret: { input: CreateSecretRequest; output: Secret };
  /** A secret or variable by its id, without its value. Requires the scope `secrets:read`. */
  secret: { input: SecretParameters; output: Secret };
  /** Changes the value of a secret or variable, or the places where a secret is used. Requires the scope `secrets:write`. */
  updateSecret: { input: UpdateSecretParameters & UpdateSecretRequest; output: Secret };
  /** Deletes a secret or variable. Requires the scope `secrets:write`. */
  deleteSecret: { input: DeleteSecretParameters; output: DeleteSecretResponse };
  /** Hooks that receive events from other systems, newest first. Requires the scope `integrations:read`. */
  inboundHooks: { input: InboundHooksParameters; output: InboundHookPage };
  /** Creates a hook, at most 50 per organization, and returns its secret once. Requires the scope `integrations:write`. */
  createInboundHook: { input: CreateInboundHookRequest; output: InboundHookWithSecret };
  /** A hook by its id. Requires the scope `integrations:read`. */
  inboundHook: { input: InboundHookParameters; output: InboundHook };
  /** Renames, disables or enables a hook. Requires the scope `integrations:write`. */
  updateInboundHook: { input: UpdateInboundHookParameters & UpdateInboundHookRequest; output: InboundHook };
  /** Deletes a hook with its deliveries. Later events for it are refused. Requires the scope `integrations:write`. */
  deleteInboundHook: { input: DeleteInboundHookParameters; output: DeleteInboundHookResponse };
  /** Events that arrived at a hook, newest first. Requires the scope `integrations:read`. */
  inboundDeliveries: { input: InboundDeliveriesParameters; output: InboundDeliveryPage };
  /** A delivery by its id. Requires the scope `integrations:read`. */
  inboundDelivery: { input: InboundDeliveryParameters; output: InboundDelivery };
  /** The orchestrator of the organization, its daily cost cap and the cost so far today. Requires the scope `orchestrator:read`. */
  orchestrator: { input: {}; output: Orchestrator };
  /** Changes the orchestrator. Omitted members stay unchanged; null restores the default. Requires the scope `orchestrator:write`. */
  updateOrchestrator: { input: UpdateOrchestratorRequest; output: Orchestrator };
  /** The budgets of the organization, its projects and its people, newest first. Requires the scope `orchestrator:read`. */
  budgets: { input: BudgetsParameters; output: BudgetPage };
  /** Creates a budget. Earlier costs of the current period count too. A mission whose next model call would exceed the budget waits until somebody raises the budget or the next period begins, and no mission starts once the budget is used up. Requires the scope `orchestrator:write`. */
  createBudget: { input: CreateBudgetRequest; output: Budget };
  /** A budget by its id. Requires the scope `orchestrator:read`. */
  budget: { input: BudgetParameters; output: Budget };
  /** Changes the amount of a budget. The new amount already applies to the current period. Requires the scope `orchestrator:write`. */
  updateBudget: { input: UpdateBudgetParameters & UpdateBudgetRequest; output: Budget };
  /** Deletes a budget: missions that wait for it continue. Requires the scope `orchestrator:write`. */
  deleteBudget: { input: DeleteBudgetParameters; output: DeleteBudgetResponse };
  /** The sandboxes of the organization, newest first. Requires the scope `sandboxes:read`. */
  sandboxes: { input: SandboxesParameters; output: SandboxPage };
  /** One sandbox with its metrics, its sessions and the newest fragments of the agent’s work. Requires the scope `sandboxes:read`. */
  sandbox: { input: SandboxParameters; output: SandboxDetail };
  /** A log of one session in a sandbox: the newest piece, or an older one. Requires the scope `sandboxes:read`. */
  sandboxLog: { input: SandboxLogParameters; output: SandboxLog };
  /** The preview environments of the organization, newest first. Requires the scope `environments:read`. */
  environments: { input: EnvironmentsParameters; output: EnvironmentPage };
  /** One preview environment. Requires the scope `environments:read`. */
  environment: { input: EnvironmentParameters; output: EnvironmentDetail };
  /** Requests the destruction of a preview environment, even of a failed one. A repeated request changes nothing. Requires the scope `environments:write`. */
  destroyEnvironment: { input: DestroyEnvironmentParameters; output: DestroyEnvironmentResponse };
  /** The runs of the organization, newest first; filtered by project, status, origin, agent and time, and by whether they wait for a person to act. Requires the scope `missions:read`. */
  runs: { input: RunsParameters; output: RunPage };
  /** Starts a mission in a project, without a scheduled task or an automation. If the tracker fails, the issue of the mission is created later. Requires the scope `missions:run`. */
  startMission: { input: StartMissionRequest; output: Run };
  /** One run, with its sandboxes and artifacts. Requires the scope `missions:read`. */
  run: { input: RunParameters; output: Run };
  /** The artifacts of the organization, newest first. Requires the scope `artifacts:read`. */
  artifacts: { input: ArtifactsParameters; output: ArtifactPage };
  /** An artifact by its id; `url` leads to its content. Requires the scope `artifacts:read`. */
  artifact: { input: ArtifactParameters; output: Artifact };
  /** Missions that need a runtime, for an autoscaler: in the organization of the token or, with a token for all organizations, in all of them. Requires the scope `runtime:report`. */
  runtimeDemand: { input: RuntimeDemandParameters; output: RuntimeDemand };
  /** The steps of a run in their order: the agent of each step, the plan, reviews and tests, tokens and cost. Requires the scope `missions:read`. */
  runSteps: { input: RunStepsParameters; output: RunSteps };
  /** Messages to the agents of a run, and decisions of people about the run, in order. Requires the scope `missions:read`. */
  runMessages: { input: RunMessagesParameters; output: RunHistory };
  /** Sends a message to the agent of a run. The agent reads it in its current turn, within about two seconds, or when its step begins. A message that is still unread when the work is done starts one more step. Requires the scope `missions:run`. */
  sendMessage: { input: SendMessageParameters & SendMessageRequest; output: RunMessage };
  /** The quality of missions that have ended, in figures for each group of missions. Only the 100 groups with the most missions are listed. Requires the scope `missions:read`. */
  qualityFigures: { input: QualityFiguresParameters; output: QualityReport };
  /** The recording of a run; 404 without one. Requires the scope `artifacts:read`. */
  recording: { input: RecordingParameters; output: Recording };
  /** The hosts that a run tried to connect to, and the results. Requires the scope `missions:read`. */
  runConnections: { input: RunConnectionsParameters; output: ConnectionList };
  /** The calls of a run to models, tools and hosts: the leaves of the Merkle tree in the attestations of its commits. Requires the scope `missions:read`. */
  runCalls: { input: RunCallsParameters; output: RunCallPage };
  /** The signed statement about a commit of a mission. Requires the scope `missions:read`. */
  attestation: { input: AttestationParameters; output: Attestation };
  /** How the environments of a run were prepared. Requires the scope `missions:read`. */
  runPreparations: { input: RunPreparationsParameters; output: PreparationList };
  /** The MCP servers that a project declares, and the servers bound to it. Requires the scope `mcp:read`. */
  projectMcp: { input: ProjectMcpParameters; output: ProjectMcpView };
  /** Sets the path of the config file. Omitted members stay unchanged. Requires the scope `mcp:write`. */
  updateProjectMcp: { input: UpdateProjectMcpParameters & UpdateProjectMcpRequest; output: ProjectMcpView };
  /** The bound MCP servers of all projects that the caller may see. Requires the scope `mcp:read`. */
  mcpBindings: { input: {}; output: McpBindingList };
  /** Progress of the organization in setting up the service. Requires the scope `setup:read`. */
  setup: { input: {}; output: SetupProgress };
  /** Everything that waits for the caller: plans, questions, tool calls, limits, events, reviews and failures that its scopes let it act on. Urgent items come first, then the oldest. Failures are listed for 14 days, and changes to review for 30; a later run of the same task replaces an earlier one. Requires the scope `missions:read`. */
  inbox: { input: InboxParameters; output: InboxPage };
  /** Notices for the caller, within its scopes. A notice disappears once its cause is gone. Requires the scope `setup:read`. */
  notices: { input: {}; output: ListNoticesResponse };
  /** Changes of the credits that the organization owns, newest first. Requires the scope `billing:read`. */
  billingLedger: { input: BillingLedgerParameters; output: ListLedgerResponse };
  /** Packs of credits, plans, prices and limits. Requires the scope `billing:read`. */
  billingOffers: { input: {}; output: ListOffersResponse };
  /** The purchases of the organization. Requires the scope `billing:read`. */
  billingOrders: { input: {}; output: ListOrdersResponse };
  /** A checkout session of the organization. Requires the scope `billing:read`. */
  checkoutSession: { input: CheckoutSessionParameters; output: CheckoutSessionStatus };
  /** The plan and the credits of the organization. Requires the scope `billing:read`. */
  billingSummary: { input: {}; output: BillingSummary };
  /** The audit log of the organization, newest first: who changed what, when, with which credential and from where. It contains every change that was committed before the request. Requires the scope `audit:read`. */
  auditEvents: { input: AuditEventsParameters; output: AuditEventPage };
  /** The signed checkpoints of the audit log of the organization. Requires the scope `audit:read`. */
  auditCheckpoints: { input: AuditCheckpointsParameters; output: AuditCheckpointPage };
  /** Proves that an event is in the audit log of the organization. Requires the scope `audit:read`. */
  auditEventProof: { input: AuditEventProofParameters; output: AuditEventProof };
  /** Proves that the audit log of the organization has only grown between two sizes, such as those of two checkpoints. Requires the scope `audit:read`. */
  auditConsistencyProof: { input: AuditConsistencyProofParameters; output: AuditConsistencyProof };
  /** URLs that get events of the organization, newest first. Requires the scope `webhooks:read`. */
  webhookEndpoints: { input: WebhookEndpointsParameters; output: WebhookEndpointPage };
  /** Creates an endpoint and returns its secret, which cannot be read later. The endpoint gets the events that occur from now on. An organization has at most 20 endpoints. Requires the scope `webhooks:write`. */
  createWebhookEndpoint: { input: CreateWebhookEndpointRequest; output: WebhookEndpointWithSecret };
  /** An endpoint by its id. Requires the scope `webhooks:read`. */
  webhookEndpoint: { input: WebhookEndpointParameters; output: WebhookEndpoint };
  /** Changes an endpoint, disables it, or enables it again. Requires the scope `webhooks:write`. */
  updateWebhookEndpoint: { input: UpdateWebhookEndpointParameters & UpdateWebhookEndpointRequest; output: WebhookEndpoint };
  /** Deletes an endpoint with its deliveries. Requires the scope `webhooks:write`. */
  deleteWebhookEndpoint: { input: DeleteWebhookEndpointParameters; output: DeleteWebhookEndpointResponse };
  /** Events that were sent to an endpoint, or are to be sent, newest first. Requires the scope `webhooks:read`. */
  webhookDeliveries: { input: WebhookDeliveriesParameters; output: WebhookDeliveryPage };
  /** A delivery by its id. Requires the scope `webhooks:read`. */
  webhookDelivery: { input: WebhookDeliveryParameters; output: WebhookDelivery };
  /** Revokes an invite. Requires the scope `members:write`. */
  revokeInvite: { input: RevokeInviteParameters; output: RevokeInviteResponse };
  /** Changes the role of a member, which also applies to their existing credentials. Only an owner adds or removes owners; the last owner stays. Requires the scope `members:write`. */
  updateMembership: { input: UpdateMembershipParameters & UpdateMembershipRequest; output: Membership };
  /** Removes a member. Their tokens, sign-ins and claimed agents in the organization end for good, and recurring missions that are billed to them are disabled. Only an owner removes an owner, and the last owner stays. Requires the scope `members:write`. */
  deleteMembership: { input: DeleteMembershipParameters; output: DeleteMembershipResponse };
  /** Runs a scheduled task now, even a disabled one. Requires the scope `missions:run`. */
  runScheduledTask: { input: RunScheduledTaskParameters; output: RunNowResponse };
  /** Runs an automation now, even a disabled one. Requires the scope `missions:run`. */
  runAutomation: { input: RunAutomationParameters; output: RunNowResponse };
  /** Replaces the secret of a hook and returns the new secret once. Events signed with the earlier secret are refused. Requires the scope `integrations:write`. */
  replaceInboundHookSecret: { input: ReplaceInboundHookSecretParameters & ReplaceInboundHookSecretRequest; output: InboundHookWithSecret };
  /** Processes the payload of a delivery once more, as a new delivery. Because this may start missions, the call requires `missions:run` in addition to its own scope. Requires the scope `integrations:write`. */
  redeliverInboundDelivery: { input: RedeliverInboundDeliveryParameters; output: InboundDelivery };
  /** Starts the missions of an event whose author is not allowed to start them. The missions are billed to the caller. The call requires `missions:run` in addition to its own scope. Requires the scope `integrations:write`. */
  approveInboundDelivery: { input: ApproveInboundDeliveryParameters; output: InboundDelivery };
  /** Dismisses an event that waits for an approval, so that the event starts nothing. The call requires `missions:run` in addition to its own scope. Requires the scope `integrations:write`. */
  dismissInboundDelivery: { input: DismissInboundDeliveryParameters; output: InboundDelivery };
  /** Ends a running sandbox at once. Killing it twice changes nothing. Requires the scope `sandboxes:write`. */
  killSandbox: { input: KillSandboxParameters; output: KillSandboxResponse };
  /** Ends an open run at once. Canceling it twice changes nothing. Requires the scope `missions:run`. */
  cancelRun: { input: CancelRunParameters; output: Run };
  /** Answers a question of the agent of a run, or decides about a tool call that needs approval. A question is answered once. The field `questions` of a run lists the open questions. Requires the scope `missions:run`. */
  answerElicitation: { input: AnswerElicitationParameters & AnswerElicitationRequest; output: RunMessage };
  /** Sets the total budget of an open run. A run that waits for more budget (`needs`) continues within seconds. The plan of the organization also limits the cost of a mission. Requires the scope `missions:run`. */
  setRunBudget: { input: SetRunBudgetParameters & SetRunBudgetRequest; output: Run };
  /** Sets limits of an open run; absent limits are unchanged. A run that waits for a higher limit (`needs`) continues within seconds. Requires the scope `missions:run`. */
  setRunLimits: { input: SetRunLimitsParameters & SetRunLimitsRequest; output: Run };
  /** Approves the plan of a run that waits for it. Approving it twice changes nothing. Requires the scope `missions:run`. */
  approvePlan: { input: ApprovePlanParameters; output: Run };
  /** Interrupts the agent of a run in the middle of its turn. The agent keeps its session until the run is resumed. A run that has not begun waits until it is resumed. Requires the scope `missions:run`. */
  interruptRun: { input: InterruptRunParameters; output: Run };
  /** Lets the interrupted agent of a run continue. Requires the scope `missions:run`. */
  resumeRun: { input: ResumeRunParameters; output: Run };
  /** Starts the mission of a run again from its beginning. If a scheduled task or automation has started the run, this task or automation runs once more. Otherwise, a mission with the same prompt, agent and limits starts. While the new run is open, a repeated request returns the new run. Requires the scope `missions:run`. */
  rerunMission: { input: RerunMissionParameters; output: Run };
  /** Starts a mission that continues a recorded mission from one of its model calls. Earlier calls are answered from the recording, at no cost. At the chosen call, the session of the agent continues with the chosen model, version and message. The mission fails when the replay differs from the recording before the call. Also requires `artifacts:read`. Requires the scope `missions:run`. */
  forkMission: { input: ForkMissionParameters & ForkMissionRequest; output: Run };
  /** Adds a host that was blocked in a run to the sandbox template whose network policy has blocked it. If that is the built-in template, the project gets a new template that allows the host; this also requires `projects:write`. If the host is already allowed, nothing changes. Requires the scope `agents:write`. */
  allowHost: { input: AllowHostParameters & AllowHostRequest; output: SandboxTemplate };
  /** Starts a new run that continues a run that has ended, with the same agents and issue. The new run begins from a checkpoint, on a branch of its own. The session of the agent is resumed if its files are in the checkpoint; otherwise the prompt summarizes what happened so far. Requires the scope `missions:run`. */
  continueRun: { input: ContinueRunParameters & ContinueRunRequest; output: Run };
  /** Binds an MCP server as currently declared, or changes its binding. Requires the scope `mcp:write`. */
  putMcpBinding: { input: PutMcpBindingParameters & PutMcpBindingRequest; output: McpBinding };
  /** Removes a binding, with its credentials and the grants of its server. Requires the scope `mcp:write`. */
  deleteMcpBinding: { input: DeleteMcpBindingParameters; output: McpDeleteResponse };
  /** Connects to a bound remote server and reads its tools; the status shows the outcome. Requires the scope `mcp:write`. */
  refreshMcpTools: { input: RefreshMcpToolsParameters; output: McpBinding };
  /** Starts the sign-in of a person to a server that requires OAuth. Requires the scope `mcp:write`. */
  startMcpOAuth: { input: StartMcpOAuthParameters & StartMcpOAuthRequest; output: McpOAuthStartResponse };
  /** Completes the sign-in that `startMcpOAuth` began: once, and only for the person who began it. Requires the scope `mcp:write`. */
  completeMcpOAuth: { input: CompleteMcpOAuthRequest; output: McpOAuthCompleteResponse };
  /** Marks a milestone as done or skipped, or removes the mark. A reached milestone stays done. Requires the scope `setup:write`. */
  updateSetupMilestone: { input: UpdateSetupMilestoneParameters & UpdateSetupMilestoneRequest; output: SetupProgress };
  /** Marks the open milestones of a group as done or skipped, or removes all marks of the group. Requires the scope `setup:write`. */
  updateSetupGroup: { input: UpdateSetupGroupParameters & UpdateSetupGroupRequest; output: SetupProgress };
  /** Records the step that the caller has reached in a guide. Requires the scope `setup:write`. */
  updateSetupGuide: { input: UpdateSetupGuideParameters & UpdateSetupGuideRequest; output: SetupProgress };
  /** Hides a notice from the caller while its cause lasts. Dismissing it twice changes nothing. Requires the scope `setup:write`. */
  dismissNotice: { input: DismissNoticeParameters; output: NoticeDismissal };
  /** Asks the owners of the organization for credits. If a request is already open, the message is added to it. Requires the scope `missions:run`. */
  createCreditRequest: { input: CreateCreditRequest; output: CreditRequestResponse };
  /** Starts a purchase and returns the page on which a person pays. Requires the scope `billing:write`. */
  createCheckoutSession: { input: CreateCheckoutSessionRequest; output: CheckoutSessionResponse };
  /** Changes the plan from the next period on, or cancels the subscription at the end of the current period. Requires the scope `billing:write`. */
  updateSubscription: { input: UpdateSubscriptionRequest; output: SubscriptionResponse };
  /** Withdraws from an order within 14 days: unspent credits are taken back and refunded. Requires the scope `billing:write`. */
  withdrawOrder: { input: WithdrawOrderParameters & CreateWithdrawalRequest; output: WithdrawalResponse };
  /** Changes the billing settings of the organization. Requires the scope `billing:write`. */
  updateBillingSettings: { input: UpdateBillingSettingsRequest; output: BillingSummary };
  /** Replaces the secret of an endpoint and returns the new secret once. For a day, messages are also signed with the earlier secret. Requires the scope `webhooks:write`. */
  replaceWebhookSecret: { input: ReplaceWebhookSecretParameters; output: WebhookEndpointWithSecret };
  /** Sends the event `webhook_endpoint.tested` to an endpoint at once, and returns its delivery with the response. It is sent regardless of the endpoint’s event types, and even while the endpoint is disabled; it is not sent again after a failure. The call takes at most 15 seconds; another test during this time gets a 409. Requires the scope `webhooks:write`. */
  testWebhookEndpoint: { input: TestWebhookEndpointParameters; output: WebhookDelivery };
  /** Sends an event again, as a new delivery with the same `webhook-id`. Requires the scope `webhooks:write`. */
  resendWebhookDelivery: { input: ResendWebhookDeliveryParameters; output: WebhookDelivery };
  /** Sends the events of a period again, each as a new delivery with the same `webhook-id`. An endpoint can have at most 1000 waiting deliveries. A request that would exceed this gets a 409, and nothing is sent. Requires the scope `webhooks:write`. */
  resendWebhookDeliveries: { input: ResendWebhookDeliveriesParameters & ResendWebhookDeliveriesRequest; output: ResentWebhookDeliveries };
  /** Events of the organization whose number is greater than `after`, oldest first. The numbers are those of the audit log. The response is sent at once; or, with `wait`, when the next event happens; or, with `Accept: text/event-stream`, it is a stream of server-sent events that continues after `Last-Event-ID`. Requires the scope `audit:read`. */
  events: { input: EventsParameters; output: FeedPage };
  /** The networks from which the organization accepts its credentials. Requires the scope `sign-in:read`. */
  allowedNetworks: { input: {}; output: AllowedNetworks };
  /** The users that the identity provider of the organization maintains, newest first. Requires the scope `members:read`. */
  directoryUsers: { input: DirectoryUsersParameters; output: DirectoryUserPage };
  /** The groups that the identity provider of the organization maintains. Requires the scope `members:read`. */
  directoryGroups: { input: {}; output: DirectoryGroups };
  /** The runtime tokens of the organization, including revoked ones. Requires the scope `integrations:write`. */
  runtimeTokens: { input: {}; output: RuntimeTokens };
  /** The directory tokens of the organization, including ended ones. Only an owner may do this. Requires the scope `members:write`. */
  directoryTokens: { input: {}; output: DirectoryTokens };
  /** Identity providers of the organization, at most 10. Requires the scope `sign-in:read`. */
  identityProviders: { input: {}; output: IdentityProviderList };
  /** The email domains, such as example.com, that the organization has added. There are at most 20 of them. Requires the scope `sign-in:read`. */
  signInDomains: { input: {}; output: SignInDomainList };
  /** The export of a closed organization, for its owners in the console; 404 when none was requested. Requires the scope `organizations:read`. */
  organizationExport: { input: OrganizationExportParameters; output: OrganizationExport };
  /** Comments on an issue of the built-in tracker. Requires the scope `missions:read`. */
  issueComments: { input: IssueCommentsParameters; output: IssueCommentPage };
  /** The next occurrence of each scheduled task and automation, soonest first. Automations are included only with the scope `automations:read`. Requires the scope `scheduled-tasks:read`. */
  upcomingOccurrences: { input: UpcomingOccurrencesParameters; output: UpcomingOccurrenceList };
  /** The versions of an agent of the organization, newest first: the last 1,000. A built-in agent has none. Requires the scope `agents:read`. */
  agentVersions: { input: AgentVersionsParameters; output: AgentVersionPage };
  /** Evaluates conditions, filter, key and template of a rule against events that arrived, newest first. Starts nothing. Requires the scope `integrations:read`. */
  previewEventTrigger: { input: PreviewEventTriggerParameters; output: EventTriggerPreviews };
  /** The groups of the matching runs, largest first, at most 100. Only the newest 10,000 matching runs are counted. Requires the scope `missions:read`. */
  runGroups: { input: RunGroupsParameters; output: RunGroups };
  /** The runtimes that work for the organization and were seen within the last day: at most 100, the most recently seen first. A run waits for a connected runtime with the harness of its agent. Requires the scope `agents:read`. */
  runtimes: { input: {}; output: Runtimes };
  /** The views that the caller has saved in the organization, oldest first. Requires the scope `missions:read`. */
  missionViews: { input: {}; output: MissionViewList };
  /** Compares the missions of two versions of an agent. Requires the scope `missions:read`. */
  compareAgentVersions: { input: CompareAgentVersionsParameters; output: AgentVersionComparison };
  /** Several attempts at one task: result, verdicts, files, cost and time of each. Requires the scope `missions:read`. */
  attemptGroup: { input: AttemptGroupParameters; output: AttemptGroup };
  /** A run as it was at a moment: plan, steps, messages, transcript, log, files and cost. Requires the scope `sandboxes:read`. */
  runMoment: { input: RunMomentParameters; output: RunMoment };
  /** The newest 500 events of a run, in chronological order. A replay moves from one event to the next. Requires the scope `sandboxes:read`. */
  runEvents: { input: RunEventsParameters; output: RunEvents };
  /** The links to a run for people without an account, including expired and revoked ones, oldest first. Requires the scope `missions:run`. */
  runShares: { input: RunSharesParameters; output: RunShares };
  /** Whether the organization records its missions, and for how long. Requires the scope `organizations:read`. */
  recordingSettings: { input: {}; output: RecordingSettings };
  /** The model calls in the recording of a run: a fork can begin with any of them. 404 without a recording. Requires the scope `artifacts:read`. */
  recordedModelCalls: { input: RecordedModelCallsParameters; output: RecordedModelCalls };
  /** A file that a run has changed, such as an image, as the source host has it. Requires the scope `artifacts:read`. */
  changedFile: { input: ChangedFileParameters; output: ChangedFile };
  /** The outside effects of a run: actions in other systems, each of which needs or needed a person’s approval. Requires the scope `missions:read`. */
  outsideEffects: { input: OutsideEffectsParameters; output: OutsideEffectList };
  /** The tools of a bound server as a person reviews them before approving. Requires the scope `mcp:read`. */
  mcpToolReview: { input: McpToolReviewParameters; output: McpToolReview };
  /** The size of the inbox of the caller. Requires the scope `missions:read`. */
  inboxCount: { input: InboxCountParameters; output: InboxCount };
  /** The chats that the organization has connected, with their channels. Requires the scope `integrations:read`. */
  chatConnections: { input: {}; output: ChatConnectionList };
  /** How long the organization keeps its audit log. Requires the scope `audit:read`. */
  auditRetention: { input: {}; output: AuditRetention };
  /** How long the organization keeps details, logs, artifacts and sandboxes of ended missions. Requires the scope `organizations:read`. */
  retentionSettings: { input: {}; output: RetentionSettings };
  /** People who have left the organization, as far back as its audit log goes. Requires the scope `audit:read`. */
  formerMembers: { input: FormerMembersParameters; output: FormerMemberList };
  /** The leaves of the audit log of the organization, for a copy that `aep audit verify` checks. Requires the scope `audit:read`. */
  auditEntries: { input: AuditEntriesParameters; output: AuditEntryPage };
  /** The destination to which the audit log of the organization is sent, and whether it accepts the deliveries. Requires the scope `audit:read`. */
  auditStream: { input: {}; output: AuditStreaming };
  /** Sets the networks from which the organization accepts its credentials: sessions of its members, tokens, and open subscriptions. The change takes effect with the next request. Requires the scope `sign-in:write`. */
  setAllowedNetworks: { input: SetAllowedNetworksParameters; output: AllowedNetworks };
  /** Sets the role that a group gives to its members; it applies at once. A user in several groups gets the highest of their roles, or the role `member` if none of the groups gives a role. Owners keep their role. Only an owner may do this. Requires the scope `members:write`. */
  setDirectoryGroupRole: { input: SetDirectoryGroupRoleParameters; output: ChangedDirectoryGroup };
  /** Links an account at a source host to a member, and replaces the member’s earlier account there. The account is looked up at the host and identified by its id, so a login that somebody else takes over later is not the member’s. Requires the scope `members:write`. */
  linkAccount: { input: LinkAccountParameters; output: Membership };
  /** Unlinks an account: its events are then treated as events of an outsider. Requires the scope `members:write`. */
  unlinkAccount: { input: UnlinkAccountParameters; output: Membership };
  /** Sets which outside effects of missions of a project wait for approval: they are staged, and carried out once they are approved (`approveOutsideEffects`). The policy applies at once, even to open runs. Policies of sandbox templates and of recurring missions apply too. Requires the scope `projects:write`. */
  setProjectEffectPolicy: { input: SetProjectEffectPolicyParameters; output: Project };
  /** Sets the limits within which reviews, mentions, failed checks and conflicts of a pull request continue its mission. Beyond these limits, such events wait for an approval. Requires the scope `projects:write`. */
  setPullRequestLoop: { input: SetPullRequestLoopParameters; output: Project };
  /** Turns the team of a project on or off: whether builders of its missions work with a planner, a reviewer and QA. It applies to missions that name no agent and have not begun. Requires the scope `projects:write`. */
  setProjectTeam: { input: SetProjectTeamParameters; output: Project };
  /** Creates a token for runtimes and returns its bearer value once. Its holder can claim runs of this organization, with the credentials of their models and repositories. Only a person who is signed in to the console may do this. Requires the scope `integrations:write`. */
  createRuntimeToken: { input: CreateRuntimeTokenParameters; output: CreatedRuntimeToken };
  /** Tells a runtime of the organization to drain: it takes no new missions, finishes its current missions and then shuts down. With `isDraining: false`, tells a draining runtime to take missions again. Requires the scope `integrations:write`. */
  drainRuntime: { input: DrainRuntimeParameters; output: RuntimeToken };
  /** Revokes a runtime token at once: the runs of its runtimes wait for another runtime once their leases expire. Requires the scope `integrations:write`. */
  revokeRuntimeToken: { input: RevokeRuntimeTokenParameters; output: RuntimeToken };
  /** Creates a token for the identity provider and returns its bearer value once. Its holder can add and remove members of the organization, and nothing else. Only an owner who is signed in to the console may do this. Requires the scope `members:write`. */
  createDirectoryToken: { input: CreateDirectoryTokenParameters; output: CreatedDirectoryToken };
  /** Revokes a token at once. Users and groups that it has provisioned stay. Only an owner may do this. Requires the scope `members:write`. */
  revokeDirectoryToken: { input: RevokeDirectoryTokenParameters; output: DirectoryToken };
  /** Connects an identity provider. It is offered to people once a test sign-in in the console has succeeded. Requires the scope `sign-in:write`. */
  createIdentityProvider: { input: CreateIdentityProviderParameters; output: IdentityProvider };
  /** Connects a SAML provider by its metadata. It is offered to people once a test sign-in in the console has succeeded. Requires the scope `sign-in:write`. */
  createSamlProvider: { input: CreateSamlProviderParameters; output: IdentityProvider };
  /** Replaces the metadata of a SAML provider. A changed entity id or sign-in URL needs a new test; a changed entity id also forgets the users of the provider. Requires the scope `sign-in:write`. */
  replaceSamlMetadata: { input: ReplaceSamlMetadataParameters; output: IdentityProvider };
  /** Changes a provider. After the issuer or client is changed, the provider must be tested again. After the issuer is changed, the platform also no longer knows which accounts belong to the users of the provider. Requires the scope `sign-in:write`. */
  updateIdentityProvider: { input: UpdateIdentityProviderParameters; output: IdentityProvider };
  /** Deletes a provider that is not required. Its domains then have no provider. Requires the scope `sign-in:write`. */
  deleteIdentityProvider: { input: DeleteIdentityProviderParameters; output: DeleteIdentityProviderResponse };
  /** Adds a domain of email addresses, which takes effect once its TXT record is found. Requires the scope `sign-in:write`. */
  createSignInDomain: { input: CreateSignInDomainParameters; output: SignInDomain };
  /** Verifies a domain if its TXT record is found. A domain can be verified for only one organization at a time. Requires the scope `sign-in:write`. */
  verifySignInDomain: { input: VerifySignInDomainParameters; output: SignInDomain };
  /** Chooses the provider of a domain, and whether it is required. It can be required once an owner has signed in through it. Requires the scope `sign-in:write`. */
  updateSignInDomain: { input: UpdateSignInDomainParameters; output: SignInDomain };
  /** Deletes a domain whose provider is not required. Requires the scope `sign-in:write`. */
  deleteSignInDomain: { input: DeleteSignInDomainParameters; output: DeleteSignInDomainResponse };
  /** Gives an agent the settings of an earlier version, as its next version. Requires the scope `agents:write`. */
  restoreAgentVersion: { input: RestoreAgentVersionParameters; output: Agent };
  /** Starts a trial, which replaces an earlier one: a share of the missions of an agent work with another version. This other version is an existing version, named by its number, or a new version with changed settings. All runs on one branch have the same version. A mission whose runtime cannot run the harness or model of the trial works with the agent’s own version. Requires the scope `agents:write`. */
  startAgentTrial: { input: StartAgentTrialParameters; output: Agent };
  /** Ends the trial of an agent. Requires the scope `agents:write`. */
  endAgentTrial: { input: EndAgentTrialParameters; output: Agent };
  /** Connects a tracker, a source host or a vendor of language models. Credentials that the vendor rejects are refused; when it cannot be reached, `checkFailure` says so. Projects without a connector of this kind get the new one. Requires the scope `integrations:write`. */
  connectIntegration: { input: ConnectIntegrationParameters; output: Integration };
  /** Replaces the models that a connector of language models lists. Agents of OpenCode and of ACP harnesses may choose them. The prices apply to all calls through the connector, including calls of models of the catalog. If no connector lists the model of an agent any longer, missions of the agent wait, and its running steps fail. Requires the scope `integrations:write`. */
  setIntegrationModels: { input: SetIntegrationModelsParameters; output: Integration };
  /** Asks the vendor now whether it accepts the credentials: see `checkFailure`. Requires the scope `integrations:write`. */
  checkIntegration: { input: CheckIntegrationParameters; output: Integration };
  /** Replaces the credentials; new credentials that the vendor rejects are refused. Missions in progress use a new key for models from the next heartbeat of their runtime. Requires the scope `integrations:write`. */
  rotateIntegration: { input: RotateIntegrationParameters; output: Integration };
  /** Deletes the credentials; projects keep the connector. Running steps that use the key of a model connector fail at the next heartbeat of their runtime; later steps use another connector of the vendor or the key of the runtime. Requires the scope `integrations:write`. */
  revokeIntegration: { input: RevokeIntegrationParameters; output: Integration };
  /** Deletes a connector with its credentials. If projects use it as their tracker or source host, the call is refused unless `detachProjects` is true. Such projects then use another connector of the same kind, if there is one; a tracker is replaced only by a connector of the same vendor. Requires the scope `integrations:write`. */
  disconnectIntegration: { input: DisconnectIntegrationParameters; output: DisconnectIntegrationResponse };
  /** Saves a view for the caller, who can have at most 50 in the organization. Requires the scope `missions:read`. */
  createMissionView: { input: CreateMissionViewParameters; output: MissionView };
  /** Replaces a view of the caller. Requires the scope `missions:read`. */
  updateMissionView: { input: UpdateMissionViewParameters; output: MissionView };
  /** Deletes a view of the caller. Requires the scope `missions:read`. */
  deleteMissionView: { input: DeleteMissionViewParameters; output: DeleteMissionViewResponse };
  /** Makes the caller follow somebody else’s run: the caller gets its later news, and its items in the inbox. The other attempts at the same task, and runs that continue the run, are followed too. The person responsible for a run gets its news and items without following it. Requires the scope `missions:read`. */
  followRun: { input: FollowRunParameters; output: Run };
  /** Makes the caller unfollow a run and the other attempts at its task. Requires the scope `missions:read`. */
  unfollowRun: { input: UnfollowRunParameters; output: Run };
  /** Chooses an attempt, which may still run: its pull request is opened, the runs of the other attempts end, and their branches are deleted. Only the first decision counts: a later one gets a 409, unless it chooses the same attempt. Requires the scope `missions:run`. */
  chooseAttempt: { input: ChooseAttemptParameters; output: AttemptGroup };
  /** Closes all attempts at a task, without choosing one of them. Their runs end, and their branches are deleted. Requires the scope `missions:run`. */
  closeAttempts: { input: CloseAttemptsParameters; output: AttemptGroup };
  /** Creates a link that shows a run to people outside the organization: read-only, without sign-in, with secrets and addresses masked, until it expires or is revoked. Requires the scope `missions:run`. */
  createRunShare: { input: CreateRunShareParameters; output: CreatedRunShare };
  /** Revokes a link to a run at once. Revoking it twice changes nothing. Requires the scope `missions:run`. */
  revokeRunShare: { input: RevokeRunShareParameters; output: RunShare };
  /** Decides whether the organization records its missions, and for how long. A running step keeps the setting with which it began. Switching recordings off deletes all recordings of the organization. Only an owner may do this. Requires the scope `organizations:write`. */
  setRecordingSettings: { input: SetRecordingSettingsParameters; output: RecordingSettings };
  /** Creates an issue in the built-in tracker of a project. If it is assigned to an agent, a mission starts. Requires the scope `missions:run`. */
  createIssue: { input: CreateIssueParameters; output: Issue };
  /** Changes an issue of the built-in tracker, closes or reopens it. Closing cancels its mission. Requires the scope `missions:run`. */
  updateIssue: { input: UpdateIssueParameters; output: Issue };
  /** Assigns an issue of the built-in tracker. An agent starts a mission on it at once, billed to you; the mission of the previous agent is canceled. Repeating the assignment changes nothing while the agent works on the issue. Requires the scope `missions:run`. */
  assignIssue: { input: AssignIssueParameters; output: Issue };
  /** Comments on an issue of the built-in tracker. An agent that works on the issue receives the comment as a message. If the mission of that agent has ended, the comment continues the mission within the limits of the project. On a closed issue, only a comment that mentions `@agent` continues the mission. Requires the scope `missions:run`. */
  commentOnIssue: { input: CommentOnIssueParameters; output: IssueComment };
  /** Deletes your own comment, and returns it. An agent that has received the comment keeps it. If a mission was going to continue because of the comment, it no longer does. Requires the scope `missions:run`. */
  deleteIssueComment: { input: DeleteIssueCommentParameters; output: IssueComment };
  /** Changes the text of your own comment. An agent that has received the comment does not receive the change. Requires the scope `missions:run`. */
  updateIssueComment: { input: UpdateIssueCommentParameters; output: IssueComment };
  /** Starts a mission on each of several issues. The missions are billed to you. An issue on which a mission is already working gets no second one. If a mission cannot start, the answer contains the reason, and the other missions still start. Requires the scope `missions:run`. */
  startMissions: { input: StartMissionsParameters; output: StartMissionsResponse };
  /** Changes the connectors of a project. A tracker or source host at another server is refused with 409 while missions or pull requests of the project are open. Requires the scope `projects:write`. */
  setProjectConnectors: { input: SetProjectConnectorsParameters; output: Project };
  /** Opens a shell in the sandbox of a running mission, beside its agent, for the calling person. The runtime starts it within seconds. It ends with the step, when nobody is connected for a minute, or with `closeTerminal`. Requires the scope `missions:run`. */
  openTerminal: { input: OpenTerminalParameters; output: Terminal };
  /** Sends input to the shell of a terminal. To stay connected, send input at least every 30 seconds, even if it is empty. Requires the scope `missions:run`. */
  writeTerminal: { input: WriteTerminalParameters; output: Terminal };
  /** Sets the size of a terminal. Requires the scope `missions:run`. */
  resizeTerminal: { input: ResizeTerminalParameters; output: Terminal };
  /** Ends a terminal and its shell. Ending it twice changes nothing. Requires the scope `missions:run`. */
  closeTerminal: { input: CloseTerminalParameters; output: Terminal };
  /** Creates a URL for uploading changes that a person has made locally to the work of a run. The run must have ended. Requires the scope `missions:run`. */
  createCheckpointUpload: { input: CreateCheckpointUploadParameters; output: CheckpointUpload };
  /** Uploaded local changes replace the newest checkpoint of a run that has ended: `continueRun` begins from them. The answer is 409 when the run has a newer checkpoint than the one that the changes are based on, or has already been continued. Requires the scope `missions:run`. */
  pushCheckpoint: { input: PushCheckpointParameters; output: Run };
  /** Reviews the change of a run. `request_changes` sends all comments to the agent: an open run gets them as one message, and a run that has ended is continued on the same branch. `approve` is the approval that a project with `autoMerge` waits for; it is refused for a commit that is not the newest one of the branch. Requires the scope `missions:run`. */
  submitReview: { input: SubmitReviewParameters; output: Review };
  /** Merges the pull request of a run that has ended. The answer is 409 when the named commit is not the newest commit of the pull request, and when the rules of the source host forbid the merge. Requires the scope `missions:run`. */
  mergePullRequest: { input: MergePullRequestParameters; output: Run };
  /** Marks a comment of a review as resolved, or opens it again. Requires the scope `missions:run`. */
  resolveReviewComment: { input: ResolveReviewCommentParameters; output: ReviewComment };
  /** Resolves a thread of the run’s pull request at the source host, or opens it again, and adds a note with your name. A review comment that began the thread is resolved together with it. Requires the scope `missions:run`. */
  resolveHostThread: { input: ResolveHostThreadParameters; output: HostThread };
  /** Replies in a thread of the run’s pull request at the source host, in your name. The reply is for people: no agent gets it. Requires the scope `missions:run`. */
  answerHostThread: { input: AnswerHostThreadParameters; output: HostThread };
  /** Approves outside effects of a run: the effects in `effectIds`, or without this argument all effects that wait for a decision. Each effect is carried out once, in the background. A second approval changes nothing, except that a failed effect is tried again. Requires the scope `missions:run`. */
  approveOutsideEffects: { input: ApproveOutsideEffectsParameters; output: Run };
  /** Rejects outside effects of a run: the effects in `effectIds`, or without this argument all effects that wait for a decision. Rejected effects are never carried out. If a push is rejected, the pull request for it is rejected too. Requires the scope `missions:run`. */
  rejectOutsideEffects: { input: RejectOutsideEffectsParameters; output: Run };
  /** Hands a run over to another member, who gets its news, questions and inbox items from then on. The costs are still charged to the person who was charged before. All attempts at one task are handed over together. Canceled and skipped runs are not handed over. Requires the scope `missions:run`. */
  handOverRun: { input: HandOverRunParameters; output: Run };
  /** Hides an item from your inbox until something new happens to it, or until the given time. Nothing else changes: it stays in the inbox of other people. Requires the scope `missions:read`. */
  markInboxItemDone: { input: MarkInboxItemDoneParameters; output: InboxItem };
  /** Puts an item that you marked as done, or snoozed, back into your inbox. Requires the scope `missions:read`. */
  restoreInboxItem: { input: RestoreInboxItemParameters; output: InboxItem };
  /** Connects a workspace of a chat, once per organization, and creates the hook for its events. Credentials that the vendor rejects are refused. Requires the scope `integrations:write`. */
  connectChat: { input: ConnectChatParameters; output: ChatConnection };
  /** Replaces the token, the signing secret or both. Requests signed with the earlier secret are refused. Requires the scope `integrations:write`. */
  rotateChat: { input: RotateChatParameters; output: ChatConnection };
  /** Binds a channel to a project, or rebinds it to another: missions that start in the channel work in it. At most 500 per organization; a channel belongs to one organization. If the channel is private, the app has to be a member of it. Requires the scope `integrations:write`. */
  bindChatChannel: { input: BindChatChannelParameters; output: ChatChannel };
  /** Ends the binding of a channel: requests in the channel must then name a project. Requires the scope `integrations:write`. */
  unbindChatChannel: { input: UnbindChatChannelParameters; output: UnbindChatChannelResponse };
  /** Sets how long the organization keeps its audit log. Older events are deleted within the hour; the change is itself an event. Only an admin or an owner may do this. Requires the scope `organizations:write`. */
  setAuditRetention: { input: SetAuditRetentionParameters; output: AuditRetention };
  /** Sets how long the organization keeps details, logs, artifacts and sandboxes of ended missions. Older ones are deleted within the hour; an argument that is left out is null. Only an owner may do this. Requires the scope `organizations:write`. */
  setRetentionSettings: { input: SetRetentionSettingsParameters; output: RetentionSettings };
  /** Erases a person who is not, or no longer, a member: network addresses, email addresses, names and browsers of the person in the audit log, which still verifies; recordings of missions that they started; invites to them; and their name in messages, reviews and comments. This cannot be undone. The erasure is an event, `person.erased`; a repeated call changes nothing. Only an owner may do this. Requires the scope `members:write`. */
  erasePerson: { input: ErasePersonParameters; output: PersonErasure };
  /** Sends the audit log to a destination, which replaces the present destination. Only an admin or an owner may do this, with the scope `organizations:write` in addition to `audit:read`. Requires the scope `audit:read`. */
  setAuditStream: { input: SetAuditStreamParameters; output: SavedAuditStream };
  /** Ends the deliveries of the audit log, and deletes the stored credentials. Deleting twice changes nothing. The scope `organizations:write` is required in addition to `audit:read`. Requires the scope `audit:read`. */
  deleteAuditStream: { input: {}; output: DeleteAuditStreamResponse };
  /** Begins the next attempt of a failing delivery at once. The scope `organizations:write` is required in addition to `audit:read`. Requires the scope `audit:read`. */
  retryAuditStream: { input: {}; output: AuditStreaming };
}

/** Each subscription with its input and the type of its events. */
export interface Subscriptions {
  /** The sandbox, then each change as it happens. A new piece of a log also causes an event; read the piece with `sandboxLog` and `after`. Completes when the sandbox has ended and every change was sent. Requires the scope `sandboxes:read`. */
  sandboxUpdated: { input: SandboxUpdatedParameters; output: SandboxUpdate };
  /** Sends the run when the subscription begins, and after each change. Completes when the run has ended. Requires the scope `missions:read`. */
  runUpdated: { input: RunUpdatedParameters; output: Run };
  /** Sends the attempts at a task when the subscription begins, and after each change. Completes once a person has decided and all runs have ended. Requires the scope `missions:read`. */
  attemptGroupUpdated: { input: AttemptGroupUpdatedParameters; output: AttemptGroup };
  /** The output of a terminal while it is being written; completes when the terminal has ended and everything was sent. Requires the scope `missions:run`. */
  terminalUpdated: { input: TerminalUpdatedParameters; output: TerminalUpdate };
  /** The number of items in the inbox, at once and after each change; changes within a second are combined. Requires the scope `missions:read`. */
  inboxUpdated: { input: {}; output: InboxCount };
}

/** Method and path of the operations that REST serves. */
export const routes = {
  memberships: 'GET /organizations/{orgId}/memberships',
  createMembership: 'POST /organizations/{orgId}/memberships',
  organizations: 'GET /organizations',
  createOrganization: 'POST /organizations',
  organization: 'GET /organizations/{orgId}',
  updateOrganization: 'PATCH /organizations/{orgId}',
  slugPreview: 'GET /organizations/slug-preview',
  slugAvailability: 'GET /organizations/slug-availability',
  invites: 'GET /invites',
  createInvite: 'POST /invites',
  integrations: 'GET /integrations',
  sandboxTemplates: 'GET /sandbox-templates',
  createSandboxTemplate: 'POST /sandbox-templates',
  sandboxTemplate: 'GET /sandbox-templates/{templateId}',
  updateSandboxTemplate: 'PATCH /sandbox-templates/{templateId}',
  deleteSandboxTemplate: 'DELETE /sandbox-templates/{templateId}',
  projects: 'GET /projects',
  createProject: 'POST /projects',
  project: 'GET /projects/{projectId}',
  updateProject: 'PATCH /projects/{projectId}',
  deleteProject: 'DELETE /projects/{projectId}',
  organizationClosure: 'GET /organizations/{orgId}/closure',
  me: 'GET /me',
  scopes: 'GET /scopes',
  agentCatalog: 'GET /agents/catalog',
  agents: 'GET /agents',
  createAgent: 'POST /agents',
  agent: 'GET /agents/{agentId}',
  updateAgent: 'PATCH /agents/{agentId}',
  deleteAgent: 'DELETE /agents/{agentId}',
  issues: 'GET /issues',
  issue: 'GET /issues/{issueId}',
  scheduledTasks: 'GET /scheduled-tasks',
  createScheduledTask: 'POST /scheduled-tasks',
  scheduledTaskTemplates: 'GET /scheduled-tasks/templates',
  scheduledTask: 'GET /scheduled-tasks/{id}',
  updateScheduledTask: 'PATCH /scheduled-tasks/{id}',
  deleteScheduledTask: 'DELETE /scheduled-tasks/{id}',
  scheduledTaskRuns: 'GET /scheduled-tasks/{id}/runs',
  automations: 'GET /automations',
  createAutomation: 'POST /automations',
  automationTemplates: 'GET /automations/templates',
  automation: 'GET /automations/{automationId}',
  updateAutomation: 'PATCH /automations/{automationId}',
  deleteAutomation: 'DELETE /automations/{automationId}',
  automationRuns: 'GET /automations/{automationId}/runs',
  secrets: 'GET /secrets',
  createSecret: 'POST /secrets',
  secret: 'GET /secrets/{secretId}',
  updateSecret: 'PATCH /secrets/{secretId}',
  deleteSecret: 'DELETE /secrets/{secretId}',
  inboundHooks: 'GET /inbound-hooks',
  createInboundHook: 'POST /inbound-hooks',
  inboundHook: 'GET /inbound-hooks/{hookId}',
  updateInboundHook: 'PATCH /inbound-hooks/{hookId}',
  deleteInboundHook: 'DELETE /inbound-hooks/{hookId}',
  inboundDeliveries: 'GET /inbound-hooks/{hookId}/deliveries',
  inboundDelivery: 'GET /inbound-hooks/{hookId}/deliveries/{deliveryId}',
  orchestrator: 'GET /orchestrator',
  updateOrchestrator: 'PATCH /orchestrator',
  budgets: 'GET /budgets',
  createBudget: 'POST /budgets',
  budget: 'GET /budgets/{budgetId}',
  updateBudget: 'PATCH /budgets/{budgetId}',
  deleteBudget: 'DELETE /budgets/{budgetId}',
  sandboxes: 'GET /sandboxes',
  sandbox: 'GET /sandboxes/{sandboxId}',
  sandboxLog: 'GET /sandboxes/{sandboxId}/logs',
  environments: 'GET /environments',
  environment: 'GET /environments/{environmentId}',
  destroyEnvironment: 'DELETE /environments/{environmentId}',
  runs: 'GET /runs',
  startMission: 'POST /runs',
  run: 'GET /runs/{runId}',
  artifacts: 'GET /artifacts',
  artifact: 'GET /artifacts/{artifactId}',
  runtimeDemand: 'GET /runtimes/demand',
  runSteps: 'GET /runs/{runId}/steps',
  runMessages: 'GET /runs/{runId}/messages',
  sendMessage: 'POST /runs/{runId}/messages',
  qualityFigures: 'GET /quality-figures',
  recording: 'GET /runs/{runId}/recording',
  runConnections: 'GET /runs/{runId}/connections',
  runCalls: 'GET /runs/{runId}/calls',
  attestation: 'GET /attestations/{sha}',
  runPreparations: 'GET /runs/{runId}/preparations',
  projectMcp: 'GET /mcp/projects/{projectId}',
  updateProjectMcp: 'PATCH /mcp/projects/{projectId}',
  mcpBindings: 'GET /mcp/bindings',
  setup: 'GET /setup',
  inbox: 'GET /inbox',
  notices: 'GET /notices',
  billingLedger: 'GET /billing/ledger',
  billingOffers: 'GET /billing/offers',
  billingOrders: 'GET /billing/orders',
  checkoutSession: 'GET /billing/checkout-sessions/{checkoutId}',
  billingSummary: 'GET /billing/summary',
  auditEvents: 'GET /audit-events',
  auditCheckpoints: 'GET /audit-checkpoints',
  auditEventProof: 'GET /audit-events/{number}/proof',
  auditConsistencyProof: 'GET /audit-checkpoints/consistency',
  webhookEndpoints: 'GET /webhook-endpoints',
  createWebhookEndpoint: 'POST /webhook-endpoints',
  webhookEndpoint: 'GET /webhook-endpoints/{endpointId}',
  updateWebhookEndpoint: 'PATCH /webhook-endpoints/{endpointId}',
  deleteWebhookEndpoint: 'DELETE /webhook-endpoints/{endpointId}',
  webhookDeliveries: 'GET /webhook-endpoints/{endpointId}/deliveries',
  webhookDelivery: 'GET /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}',
  revokeInvite: 'DELETE /invites/{inviteId}',
  updateMembership: 'PATCH /organizations/{orgId}/memberships/{userId}',
  deleteMembership: 'DELETE /organizations/{orgId}/memberships/{userId}',
  runScheduledTask: 'POST /scheduled-tasks/{id}/run',
  runAutomation: 'POST /automations/{automationId}/run',
  replaceInboundHookSecret: 'PUT /inbound-hooks/{hookId}/secret',
  redeliverInboundDelivery: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/redelivery',
  approveInboundDelivery: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/approval',
  dismissInboundDelivery: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/dismissal',
  killSandbox: 'POST /sandboxes/{sandboxId}/kill',
  cancelRun: 'POST /runs/{runId}/cancel',
  answerElicitation: 'POST /runs/{runId}/answer',
  setRunBudget: 'PUT /runs/{runId}/budget',
  setRunLimits: 'PUT /runs/{runId}/limits',
  approvePlan: 'POST /runs/{runId}/approval',
  interruptRun: 'POST /runs/{runId}/interruption',
  resumeRun: 'POST /runs/{runId}/resumption',
  rerunMission: 'POST /runs/{runId}/rerun',
  forkMission: 'POST /runs/{runId}/fork',
  allowHost: 'POST /runs/{runId}/allowed-hosts',
  continueRun: 'POST /runs/{runId}/continuation',
  putMcpBinding: 'PUT /mcp/projects/{projectId}/servers/{serverName}',
  deleteMcpBinding: 'DELETE /mcp/projects/{projectId}/servers/{serverName}',
  refreshMcpTools: 'POST /mcp/projects/{projectId}/servers/{serverName}/tools/refresh',
  startMcpOAuth: 'POST /mcp/projects/{projectId}/servers/{serverName}/oauth/start',
  completeMcpOAuth: 'POST /mcp/oauth/complete',
  updateSetupMilestone: 'PATCH /setup/milestones/{milestoneId}',
  updateSetupGroup: 'PATCH /setup/groups/{groupId}',
  updateSetupGuide: 'PATCH /setup/guides/{guideId}',
  dismissNotice: 'POST /notices/{noticeId}/dismissal',
  createCreditRequest: 'POST /billing/credit-requests',
  createCheckoutSession: 'POST /billing/checkout-sessions',
  updateSubscription: 'PATCH /billing/subscription',
  withdrawOrder: 'POST /billing/orders/{orderId}/withdrawal',
  updateBillingSettings: 'PATCH /billing/settings',
  replaceWebhookSecret: 'PUT /webhook-endpoints/{endpointId}/secret',
  testWebhookEndpoint: 'POST /webhook-endpoints/{endpointId}/test',
  resendWebhookDelivery: 'POST /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}/resend',
  resendWebhookDeliveries: 'POST /webhook-endpoints/{endpointId}/resend',
  events: 'GET /events',
} as const;

/** The documents of the operations that only GraphQL has. */
export const documents = {
  allowedNetworks: 'query allowedNetworks{allowedNetworks{networks address}}',
  directoryUsers: 'query directoryUsers($limit:Int!=50$cursor:String$query:String){directoryUsers(limit:$limit cursor:$cursor query:$query){data{id userName externalId email displayName active state createdAt updatedAt}nextCursor}}',
  directoryGroups: 'query directoryGroups{directoryGroups{data{id displayName externalId role createdAt updatedAt memberCount}}}',
  runtimeTokens: 'query runtimeTokens{runtimeTokens{data{id name createdAt lastUsedAt revokedAt draining}}}',
  directoryTokens: 'query directoryTokens{directoryTokens{data{id name createdAt expiresAt lastUsedAt revokedAt}}}',
  identityProviders: 'query identityProviders{identityProviders{providers{id orgId name protocol issuer clientId signInUrl metadataUrl metadataReadAt metadataFailingSince returnAddress entityId defaultRole testedAt createdByUserId createdAt updatedAt}}}',
  signInDomains: 'query signInDomains{signInDomains{domains{id orgId domain recordName recordValue providerId required verifiedAt checkedAt missingSince createdAt}}}',
  organizationExport: 'query organizationExport($orgId:String!){organizationExport(orgId:$orgId){orgId status requestedAt url sizeBytes expiresAt}}',
  issueComments: 'query issueComments($issueId:String!$limit:Int!=50$cursor:String$order:ListOrder){issueComments(issueId:$issueId limit:$limit cursor:$cursor order:$order){data{id issueId projectId authorUserId author runId body effect createdAt updatedAt}nextCursor}}',
  upcomingOccurrences: 'query upcomingOccurrences($projectId:String$limit:Int!=10){upcomingOccurrences(projectId:$projectId limit:$limit){data{at name projectId scheduledTaskId automationId}}}',
  agentVersions: 'query agentVersions($agentId:String!$limit:Int!=50$cursor:String){agentVersions(agentId:$agentId limit:$limit cursor:$cursor){data{id agentId number name role harness model effort sandboxTemplateId userPrompt skillRepos note authorUserId author createdAt}nextCursor}}',
  previewEventTrigger: 'query previewEventTrigger($input:PreviewEventTriggerRequest!){previewEventTrigger(input:$input){data{reason key text}}}',
  runGroups: 'query runGroups($by:RunGrouping!$projectId:String$status:RunStatus$search:String$needsPerson:Boolean$followed:Boolean$kind:RunKind$agentId:String$personId:String$createdFrom:EpochMs$createdBefore:EpochMs){runGroups(by:$by projectId:$projectId status:$status search:$search needsPerson:$needsPerson followed:$followed kind:$kind agentId:$agentId personId:$personId createdFrom:$createdFrom createdBefore:$createdBefore){data{key name count}}}',
  runtimes: 'query runtimes{runtimes{data{name tokenId harnesses{harness version}isolation labels places usedPlaces freePlaces waitingRuns oldestWaitingAt modelVendors notice lastSeenAt isDraining isConnected}waiting{reason labels runs oldestWaitingAt oldestRunId}}}',
  missionViews: 'query missionViews{missionViews{views{id name layout groupBy filters{search projectId status agentId personId kind followed needsPerson}createdAt updatedAt}}}',
  compareAgentVersions: 'query compareAgentVersions($agentId:String!$first:Int!$second:Int!$days:Int!=30){compareAgentVersions(agentId:$agentId first:$first second:$second days:$days){first{projectId agentId agentName agentVersion missions completed pullRequests merged reverted endedAtLimit completedShare mergedShare revertedShare msToMerge msToStart runsPerMission messagesPerMission costUsd costPerMergedUsd}second{projectId agentId agentName agentVersion missions completed pullRequests merged reverted endedAtLimit completedShare mergedShare revertedShare msToMerge msToStart runsPerMission messagesPerMission costUsd costPerMergedUsd}differences{share difference low high isMoreThanChance}}}',
  attemptGroup: 'query attemptGroup($attemptGroupId:String!){attemptGroup(attemptGroupId:$attemptGroupId){id projectId title prompt budgetUsd costUsd state chosenRunId decidedBy decidedAt createdAt attempts{number state run{id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths}}}',
  runMoment: 'query runMoment($runId:String!$at:EpochMs){runMoment(runId:$runId at:$at){at status costUsd steps{id runId seq role round status agentName agentId agentVersion harness model sandboxId sessionId output error turns costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens createdAt startedAt finishedAt checkpoint{commitSha createdAt artifactId}}messages{id runId seq kind text author authorUserId sandboxId fragmentSeq approved createdAt deliveredAt acknowledgedAt}fragments{kind t body action parameter result toolUseId items{content status}}plan{content status}log paths}}',
  runEvents: 'query runEvents($runId:String!){runEvents(runId:$runId){data{at kind text}}}',
  runShares: 'query runShares($runId:String!){runShares(runId:$runId){data{id runId createdBy createdAt expiresAt revokedAt revokedBy uses lastUsedAt}}}',
  recordingSettings: 'query recordingSettings{recordingSettings{isEnabled days}}',
  recordedModelCalls: 'query recordedModelCalls($runId:String!$after:Int=0){recordedModelCalls(runId:$runId after:$after){data{stepId role number at model status isOmitted}hasMore}}',
  changedFile: 'query changedFile($runId:String!$path:String!$side:DiffSide!){changedFile(runId:$runId path:$path side:$side){base64}}',
  outsideEffects: 'query outsideEffects($runId:String!){outsideEffects(runId:$runId){data{id runId kind state title text digest error resultUrl decidedBy decidedAt committedAt createdAt updatedAt}}}',
  mcpToolReview: 'query mcpToolReview($projectId:String!$serverName:String!$names:[String!]){mcpToolReview(projectId:$projectId serverName:$serverName names:$names){binding{transport status statusDetail roles authKind pinnedUrl packageSpec allowedEgressHosts credentialFields toolSnapshot{name title description readOnlyHint destructiveHint}approvedTools{name attestedReadOnly}toolsRefreshedAt effectiveToolCounts{planner builder reviewer qa}createdAt updatedAt}tools{name change digest tool{name title description readOnlyHint destructiveHint}claims definition reviewedDefinition}}}',
  inboxCount: 'query inboxCount($mine:Boolean){inboxCount(mine:$mine){count}}',
  chatConnections: 'query chatConnections{chatConnections{data{integrationId orgId workspaceId problem pausedUntil hookId eventsAddress channels{integrationId channelId name projectId createdAt}createdAt updatedAt}}}',
  auditRetention: 'query auditRetention{auditRetention{days}}',
  retentionSettings: 'query retentionSettings{retentionSettings{runDays logDays artifactDays sandboxDays}}',
  formerMembers: 'query formerMembers($orgId:String!){formerMembers(orgId:$orgId){people{userId name email removedAt erasedAt}}}',
  auditEntries: 'query auditEntries($limit:Int!=50$cursor:String){auditEntries(limit:$limit cursor:$cursor){data{number entry leafHash}nextCursor}}',
  auditStream: 'query auditStream{auditStream{stream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt createdAt updatedAt}}}',
  setAllowedNetworks: 'mutation setAllowedNetworks($input:SetAllowedNetworksRequest!){setAllowedNetworks(input:$input){networks address}}',
  setDirectoryGroupRole: 'mutation setDirectoryGroupRole($directoryGroupId:String!$role:DirectoryGroupRole){setDirectoryGroupRole(directoryGroupId:$directoryGroupId role:$role){id displayName externalId role createdAt updatedAt}}',
  linkAccount: 'mutation linkAccount($orgId:String!$userId:String!$integrationId:String!$login:String!){linkAccount(orgId:$orgId userId:$userId integrationId:$integrationId login:$login){orgId userId role createdAt}}',
  unlinkAccount: 'mutation unlinkAccount($orgId:String!$userId:String!$vendor:String!$host:String!){unlinkAccount(orgId:$orgId userId:$userId vendor:$vendor host:$host){orgId userId role createdAt}}',
  setProjectEffectPolicy: 'mutation setProjectEffectPolicy($projectId:String!$policy:EffectPolicyInput){setProjectEffectPolicy(projectId:$projectId policy:$policy){id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner scmRepo llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt missingConnectorKinds}}',
  setPullRequestLoop: 'mutation setPullRequestLoop($projectId:String!$rounds:Int!$hours:Int!$costUsd:Float){setPullRequestLoop(projectId:$projectId rounds:$rounds hours:$hours costUsd:$costUsd){id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner scmRepo llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt missingConnectorKinds}}',
  setProjectTeam: 'mutation setProjectTeam($projectId:String!$hasTeam:Boolean){setProjectTeam(projectId:$projectId hasTeam:$hasTeam){id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner scmRepo llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt missingConnectorKinds}}',
  createRuntimeToken: 'mutation createRuntimeToken($name:String!){createRuntimeToken(name:$name){id name token createdAt}}',
  drainRuntime: 'mutation drainRuntime($runtimeTokenId:String!$name:String!$isDraining:Boolean!=true){drainRuntime(runtimeTokenId:$runtimeTokenId name:$name isDraining:$isDraining){id name createdAt lastUsedAt revokedAt draining}}',
  revokeRuntimeToken: 'mutation revokeRuntimeToken($runtimeTokenId:String!){revokeRuntimeToken(runtimeTokenId:$runtimeTokenId){id name createdAt lastUsedAt revokedAt draining}}',
  createDirectoryToken: 'mutation createDirectoryToken($name:String!$expiresInDays:Int!=365){createDirectoryToken(name:$name expiresInDays:$expiresInDays){id name token createdAt expiresAt}}',
  revokeDirectoryToken: 'mutation revokeDirectoryToken($directoryTokenId:String!){revokeDirectoryToken(directoryTokenId:$directoryTokenId){id name createdAt expiresAt lastUsedAt revokedAt}}',
  createIdentityProvider: 'mutation createIdentityProvider($input:CreateIdentityProviderRequest!){createIdentityProvider(input:$input){id orgId name protocol issuer clientId signInUrl metadataUrl metadataReadAt metadataFailingSince returnAddress entityId defaultRole testedAt createdByUserId createdAt updatedAt}}',
  createSamlProvider: 'mutation createSamlProvider($input:CreateSamlProviderRequest!){createSamlProvider(input:$input){id orgId name protocol issuer clientId signInUrl metadataUrl metadataReadAt metadataFailingSince returnAddress entityId defaultRole testedAt createdByUserId createdAt updatedAt}}',
  replaceSamlMetadata: 'mutation replaceSamlMetadata($samlProviderId:String!$input:SamlMetadataRequest!){replaceSamlMetadata(samlProviderId:$samlProviderId input:$input){id orgId name protocol issuer clientId signInUrl metadataUrl metadataReadAt metadataFailingSince returnAddress entityId defaultRole testedAt createdByUserId createdAt updatedAt}}',
  updateIdentityProvider: 'mutation updateIdentityProvider($providerId:String!$input:UpdateIdentityProviderRequest!){updateIdentityProvider(providerId:$providerId input:$input){id orgId name protocol issuer clientId signInUrl metadataUrl metadataReadAt metadataFailingSince returnAddress entityId defaultRole testedAt createdByUserId createdAt updatedAt}}',
  deleteIdentityProvider: 'mutation deleteIdentityProvider($providerId:String!){deleteIdentityProvider(providerId:$providerId){ok id}}',
  createSignInDomain: 'mutation createSignInDomain($input:CreateSignInDomainRequest!){createSignInDomain(input:$input){id orgId domain recordName recordValue providerId required verifiedAt checkedAt missingSince createdAt}}',
  verifySignInDomain: 'mutation verifySignInDomain($domainId:String!){verifySignInDomain(domainId:$domainId){id orgId domain recordName recordValue providerId required verifiedAt checkedAt missingSince createdAt}}',
  updateSignInDomain: 'mutation updateSignInDomain($domainId:String!$input:UpdateSignInDomainRequest!){updateSignInDomain(domainId:$domainId input:$input){id orgId domain recordName recordValue providerId required verifiedAt checkedAt missingSince createdAt}}',
  deleteSignInDomain: 'mutation deleteSignInDomain($domainId:String!){deleteSignInDomain(domainId:$domainId){ok id}}',
  restoreAgentVersion: 'mutation restoreAgentVersion($agentId:String!$number:Int!$note:String){restoreAgentVersion(agentId:$agentId number:$number note:$note){id orgId name role harness model effort sandboxTemplateId userPrompt skillRepos isBuiltin createdAt updatedAt}}',
  startAgentTrial: 'mutation startAgentTrial($agentId:String!$input:StartAgentTrialRequest!){startAgentTrial(agentId:$agentId input:$input){id orgId name role harness model effort sandboxTemplateId userPrompt skillRepos isBuiltin createdAt updatedAt}}',
  endAgentTrial: 'mutation endAgentTrial($agentId:String!$promote:Boolean!){endAgentTrial(agentId:$agentId promote:$promote){id orgId name role harness model effort sandboxTemplateId userPrompt skillRepos isBuiltin createdAt updatedAt}}',
  connectIntegration: 'mutation connectIntegration($vendor:Vendor!$vendorKind:VendorKind$displayName:String!$credentials:String$baseUrl:String$githubApp:GitHubAppRequest$linearApp:LinearAppRequest$models:[ConnectorModelRequest!]){connectIntegration(vendor:$vendor vendorKind:$vendorKind displayName:$displayName credentials:$credentials baseUrl:$baseUrl githubApp:$githubApp linearApp:$linearApp models:$models){id orgId vendor vendorKind externalOrgId displayName createdAt updatedAt models{id name prices{input output cacheRead cacheWrite}}dependentProjectCount}}',
  setIntegrationModels: 'mutation setIntegrationModels($integrationId:String!$input:SetIntegrationModelsRequest!){setIntegrationModels(integrationId:$integrationId input:$input){id orgId vendor vendorKind externalOrgId displayName createdAt updatedAt models{id name prices{input output cacheRead cacheWrite}}dependentProjectCount}}',
  checkIntegration: 'mutation checkIntegration($integrationId:String!){checkIntegration(integrationId:$integrationId){id orgId vendor vendorKind externalOrgId displayName createdAt updatedAt models{id name prices{input output cacheRead cacheWrite}}dependentProjectCount}}',
  rotateIntegration: 'mutation rotateIntegration($integrationId:String!$credentials:String$githubApp:GitHubAppRequest$linearApp:LinearAppRequest){rotateIntegration(integrationId:$integrationId credentials:$credentials githubApp:$githubApp linearApp:$linearApp){id orgId vendor vendorKind externalOrgId displayName createdAt updatedAt models{id name prices{input output cacheRead cacheWrite}}dependentProjectCount}}',
  revokeIntegration: 'mutation revokeIntegration($integrationId:String!){revokeIntegration(integrationId:$integrationId){id orgId vendor vendorKind externalOrgId displayName createdAt updatedAt models{id name prices{input output cacheRead cacheWrite}}dependentProjectCount}}',
  disconnectIntegration: 'mutation disconnectIntegration($integrationId:String!$detachProjects:Boolean=false){disconnectIntegration(integrationId:$integrationId detachProjects:$detachProjects){ok id}}',
  createMissionView: 'mutation createMissionView($input:MissionViewRequest!){createMissionView(input:$input){id name layout groupBy filters{search projectId status agentId personId kind followed needsPerson}createdAt updatedAt}}',
  updateMissionView: 'mutation updateMissionView($viewId:String!$input:MissionViewRequest!){updateMissionView(viewId:$viewId input:$input){id name layout groupBy filters{search projectId status agentId personId kind followed needsPerson}createdAt updatedAt}}',
  deleteMissionView: 'mutation deleteMissionView($viewId:String!){deleteMissionView(viewId:$viewId){ok id}}',
  followRun: 'mutation followRun($runId:String!){followRun(runId:$runId){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  unfollowRun: 'mutation unfollowRun($runId:String!){unfollowRun(runId:$runId){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  chooseAttempt: 'mutation chooseAttempt($runId:String!){chooseAttempt(runId:$runId){id projectId title prompt budgetUsd costUsd state chosenRunId decidedBy decidedAt createdAt attempts{number state run{id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths}}}',
  closeAttempts: 'mutation closeAttempts($attemptGroupId:String!){closeAttempts(attemptGroupId:$attemptGroupId){id projectId title prompt budgetUsd costUsd state chosenRunId decidedBy decidedAt createdAt attempts{number state run{id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths}}}',
  createRunShare: 'mutation createRunShare($runId:String!$days:Int){createRunShare(runId:$runId days:$days){share{id runId createdBy createdAt expiresAt revokedAt revokedBy uses lastUsedAt}address}}',
  revokeRunShare: 'mutation revokeRunShare($shareId:String!){revokeRunShare(shareId:$shareId){id runId createdBy createdAt expiresAt revokedAt revokedBy uses lastUsedAt}}',
  setRecordingSettings: 'mutation setRecordingSettings($isEnabled:Boolean!$days:Int!){setRecordingSettings(isEnabled:$isEnabled days:$days){isEnabled days}}',
  createIssue: 'mutation createIssue($input:CreateIssueRequest!){createIssue(input:$input){id projectId number key title body labels state agentId assigneeUserId assigneeName createdByUserId runId createdAt updatedAt}}',
  updateIssue: 'mutation updateIssue($issueId:String!$input:UpdateIssueRequest!$ifUpdatedAt:EpochMs){updateIssue(issueId:$issueId input:$input ifUpdatedAt:$ifUpdatedAt){id projectId number key title body labels state agentId assigneeUserId assigneeName createdByUserId runId createdAt updatedAt}}',
  assignIssue: 'mutation assignIssue($issueId:String!$assigneeId:String){assignIssue(issueId:$issueId assigneeId:$assigneeId){id projectId number key title body labels state agentId assigneeUserId assigneeName createdByUserId runId createdAt updatedAt}}',
  commentOnIssue: 'mutation commentOnIssue($issueId:String!$body:String!){commentOnIssue(issueId:$issueId body:$body){id issueId projectId authorUserId author runId body effect createdAt updatedAt}}',
  deleteIssueComment: 'mutation deleteIssueComment($issueCommentId:String!){deleteIssueComment(issueCommentId:$issueCommentId){id issueId projectId authorUserId author runId body effect createdAt updatedAt}}',
  updateIssueComment: 'mutation updateIssueComment($issueCommentId:String!$body:String!){updateIssueComment(issueCommentId:$issueCommentId body:$body){id issueId projectId authorUserId author runId body effect createdAt updatedAt}}',
  startMissions: 'mutation startMissions($input:StartMissionsRequest!){startMissions(input:$input){starts{projectId issue runId reason}}}',
  setProjectConnectors: 'mutation setProjectConnectors($projectId:String!$input:ProjectConnectorsRequest!){setProjectConnectors(projectId:$projectId input:$input){id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner scmRepo llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt missingConnectorKinds}}',
  openTerminal: 'mutation openTerminal($runId:String!$width:Int!$height:Int!){openTerminal(runId:$runId width:$width height:$height){id runId author status hasDevice width height reason createdAt}}',
  writeTerminal: 'mutation writeTerminal($terminalId:String!$seq:Int!$text:String!){writeTerminal(terminalId:$terminalId seq:$seq text:$text){id runId author status hasDevice width height reason createdAt}}',
  resizeTerminal: 'mutation resizeTerminal($terminalId:String!$width:Int!$height:Int!){resizeTerminal(terminalId:$terminalId width:$width height:$height){id runId author status hasDevice width height reason createdAt}}',
  closeTerminal: 'mutation closeTerminal($terminalId:String!){closeTerminal(terminalId:$terminalId){id runId author status hasDevice width height reason createdAt}}',
  createCheckpointUpload: 'mutation createCheckpointUpload($runId:String!){createCheckpointUpload(runId:$runId){contentKey uploadUrl expiresAt}}',
  pushCheckpoint: 'mutation pushCheckpoint($input:PushCheckpointRequest!){pushCheckpoint(input:$input){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  submitReview: 'mutation submitReview($input:SubmitReviewRequest!){submitReview(input:$input){id runId headSha verdict body author authorUserId answeringRunId createdAt}}',
  mergePullRequest: 'mutation mergePullRequest($runId:String!$headSha:String!){mergePullRequest(runId:$runId headSha:$headSha){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  resolveReviewComment: 'mutation resolveReviewComment($commentId:String!$isResolved:Boolean!){resolveReviewComment(commentId:$commentId isResolved:$isResolved){id path side startLine line quote body resolvedAt resolvedBy createdAt}}',
  resolveHostThread: 'mutation resolveHostThread($runId:String!$key:String!$isResolved:Boolean!){resolveHostThread(runId:$runId key:$key isResolved:$isResolved){key url path side startLine line isResolved resolvedBy commentId comments{author body createdAt}}}',
  answerHostThread: 'mutation answerHostThread($runId:String!$key:String!$body:String!){answerHostThread(runId:$runId key:$key body:$body){key url path side startLine line isResolved resolvedBy commentId comments{author body createdAt}}}',
  approveOutsideEffects: 'mutation approveOutsideEffects($runId:String!$effectIds:[String!]$digests:[String!]){approveOutsideEffects(runId:$runId effectIds:$effectIds digests:$digests){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  rejectOutsideEffects: 'mutation rejectOutsideEffects($runId:String!$effectIds:[String!]$digests:[String!]){rejectOutsideEffects(runId:$runId effectIds:$effectIds digests:$digests){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  handOverRun: 'mutation handOverRun($runId:String!$userId:String!){handOverRun(runId:$runId userId:$userId){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  markInboxItemDone: 'mutation markInboxItemDone($itemId:String!$until:EpochMs){markInboxItemDone(itemId:$itemId until:$until){id kind isUrgent since title detail question{sandboxId seq text choices tool arguments at}projectId userId runId hookId deliveryId hiddenUntil isDone}}',
  restoreInboxItem: 'mutation restoreInboxItem($itemId:String!){restoreInboxItem(itemId:$itemId){id kind isUrgent since title detail question{sandboxId seq text choices tool arguments at}projectId userId runId hookId deliveryId hiddenUntil isDone}}',
  connectChat: 'mutation connectChat($input:ConnectChatRequest!){connectChat(input:$input){integrationId orgId workspaceId problem pausedUntil hookId eventsAddress channels{integrationId channelId name projectId createdAt}createdAt updatedAt}}',
  rotateChat: 'mutation rotateChat($chatId:String!$input:RotateChatRequest!){rotateChat(chatId:$chatId input:$input){integrationId orgId workspaceId problem pausedUntil hookId eventsAddress channels{integrationId channelId name projectId createdAt}createdAt updatedAt}}',
  bindChatChannel: 'mutation bindChatChannel($chatId:String!$channelId:String!$projectId:String!){bindChatChannel(chatId:$chatId channelId:$channelId projectId:$projectId){integrationId channelId name projectId createdAt}}',
  unbindChatChannel: 'mutation unbindChatChannel($chatId:String!$channelId:String!){unbindChatChannel(chatId:$chatId channelId:$channelId){ok id}}',
  setAuditRetention: 'mutation setAuditRetention($days:Int!){setAuditRetention(days:$days){days}}',
  setRetentionSettings: 'mutation setRetentionSettings($runDays:Int$logDays:Int$artifactDays:Int$sandboxDays:Int){setRetentionSettings(runDays:$runDays logDays:$logDays artifactDays:$artifactDays sandboxDays:$sandboxDays){runDays logDays artifactDays sandboxDays}}',
  erasePerson: 'mutation erasePerson($orgId:String!$person:String!){erasePerson(orgId:$orgId person:$person){personId erasedAt invites recordings}}',
  setAuditStream: 'mutation setAuditStream($input:SetAuditStreamRequest!){setAuditStream(input:$input){stream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt createdAt updatedAt}token}}',
  deleteAuditStream: 'mutation deleteAuditStream{deleteAuditStream{ok}}',
  retryAuditStream: 'mutation retryAuditStream{retryAuditStream{stream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt createdAt updatedAt}}}',
  sandboxUpdated: 'subscription sandboxUpdated($sandboxId:String!$after:Int){sandboxUpdated(sandboxId:$sandboxId after:$after){sandbox{sandboxId issueId projectId role harness harnessVersion runId status terminationReason instanceType createdAt timeoutAt lastHeartbeatAt destroyedAt lastCpuPct lastMemUsedMb lastMemTotalMb lastDiskUsedPct lastMetricAt}fragments{kind t body action parameter result toolUseId items{content status}}nextFragment metrics{t cpuPct memUsedMb memTotalMb diskUsedPct}}}',
  runUpdated: 'subscription runUpdated($runId:String!){runUpdated(runId:$runId){id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}}',
  attemptGroupUpdated: 'subscription attemptGroupUpdated($attemptGroupId:String!){attemptGroupUpdated(attemptGroupId:$attemptGroupId){id projectId title prompt budgetUsd costUsd state chosenRunId decidedBy decidedAt createdAt attempts{number state run{id orgId scheduledTaskId automationId projectId scheduledFor kind status issueId issueUrl reason lastError createdAt updatedAt missionProgress missionActivity missionCostUsd missionTitle prompt agentId awaitsApproval interruptedAt budgetUsd missionCostIncomplete startedAt finishedAt branch headSha prNumber prUrl prState outcome{result commits files insertions deletions branch headSha prNumber prUrl prState mergeBlocker}}choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths}}}',
  terminalUpdated: 'subscription terminalUpdated($terminalId:String!$after:Int){terminalUpdated(terminalId:$terminalId after:$after){terminal{id runId author status hasDevice width height reason createdAt}output nextOutput isCut}}',
  inboxUpdated: 'subscription inboxUpdated{inboxUpdated{count}}',
} as const;

/** The member of a page that holds its records, for each operation that returns a page. */
export const listings = {
  sandboxTemplates: 'data',
  projects: 'data',
  agents: 'data',
  issues: 'data',
  scheduledTasks: 'data',
  scheduledTaskRuns: 'data',
  automations: 'data',
  automationRuns: 'data',
  secrets: 'data',
  inboundHooks: 'data',
  inboundDeliveries: 'data',
  budgets: 'data',
  sandboxes: 'data',
  environments: 'data',
  runs: 'data',
  artifacts: 'data',
  runCalls: 'data',
  inbox: 'data',
  billingLedger: 'entries',
  auditEvents: 'data',
  auditCheckpoints: 'data',
  webhookEndpoints: 'data',
  webhookDeliveries: 'data',
  directoryUsers: 'data',
  issueComments: 'data',
  agentVersions: 'data',
  auditEntries: 'data',
} as const;

/** The names of the fields that hold a time. The number says how many milliseconds the unit of the time has. 0 marks a field with JSON whose structure the API does not define. */
export const times = {
  acknowledgedAt: 1,
  after: 0,
  askedAt: 1,
  at: 1,
  attemptedAt: 1,
  before: 0,
  brokenSince: 1,
  checkedAt: 1,
  closedAt: 1,
  committedAt: 1,
  completedAt: 1,
  createdAt: 1,
  currentPeriodEnd: 1,
  decidedAt: 1,
  deletedAt: 1,
  deliveredAt: 1,
  destroyedAt: 1,
  detailsDeletedAt: 1,
  disabledAt: 1,
  dismissedAt: 1,
  dueAt: 1,
  endsAt: 1,
  erasedAt: 1,
  expiresAt: 1,
  expiresAtSec: 1000,
  failingSince: 1,
  finishedAt: 1,
  hiddenUntil: 1,
  interruptedAt: 1,
  lastDeliveryAt: 1,
  lastHeartbeatAt: 1,
  lastMetricAt: 1,
  lastRunAt: 1,
  lastSeenAt: 1,
  lastUsedAt: 1,
  leaseUntil: 1,
  logsDeletedAt: 1,
  metadataFailingSince: 1,
  metadataReadAt: 1,
  missingSince: 1,
  nextAttemptAt: 1,
  nextRunAt: 1,
  occurredAt: 1,
  oldestWaitingAt: 1,
  output: 0,
  pausedUntil: 1,
  periodEnd: 1,
  periodStart: 1,
  processedAt: 1,
  reachedAt: 1,
  receivedAt: 1,
  recordedAt: 1,
  removedAt: 1,
  requestedAt: 1,
  resolvedAt: 1,
  revokedAt: 1,
  scheduledFor: 1,
  signedAt: 1,
  since: 1,
  start: 1,
  startedAt: 1,
  startsAt: 1,
  submittedAt: 1,
  t: 1,
  testedAt: 1,
  timeoutAt: 1,
  toolsRefreshedAt: 1,
  ts: 1,
  upcoming: 1,
  updatedAt: 1,
  verifiedAt: 1,
  withdrawableUntil: 1,
} as const;
