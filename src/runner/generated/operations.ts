// The operations of the runner with their types, made from schema.graphql and the .graphql files in src/runner/protocol by
// `npm run console:types`. Not edited.

/** The text of an operation for a request, with the types of its variables and its data. */
export interface Operation<Data, Variables> {
  readonly text: string;
  /** Always undefined: only the compiler reads its type. */
  readonly types?: [Data, Variables];
}

export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  EpochMs: { input: number; output: number; }
  /** The program that drives the model. One of: claude-code, codex, opencode, acp, shell. */
  Harness: { input: string; output: string; }
  /** Size of a sandbox. One of: lite, basic, standard-1, standard-2, standard-4. */
  InstanceType: { input: string; output: string; }
  /** Source of the text in a span of a prompt. One of: repo-contributed, mission. */
  PromptScope: { input: string; output: string; }
  /** An integer of at most 2^53 - 1, which a JSON number holds exactly. */
  SafeInt: { input: number; output: number; }
  /** Always true. */
  True: { input: true; output: true; }
};

/** A call that the agent of a run wants to make. */
export type AdmitMcpCallRequest = {
  /** The arguments as JSON, exactly as the person saw them; absent if no question was asked. */
  arguments?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** `toolUseId` of the question that a person has approved; absent means none was asked. */
  questionId?: InputMaybe<Scalars['String']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The `serverName` that `runMcpCommands` has returned. */
  serverName: Scalars['String']['input'];
  /** The server’s name for the tool. */
  tool: Scalars['String']['input'];
};

/** Limit on the model’s reasoning effort. */
export type AgentEffort =
  /** Slowest and most careful. */
  | 'high'
  /** Fastest and cheapest. */
  | 'low'
  /** Balances speed and care. */
  | 'medium';

/** Role of an agent in a mission. */
export type AgentRole =
  /** Changes the code. */
  | 'builder'
  /** Splits the issue into steps. */
  | 'planner'
  /** Tests the change as a user would. */
  | 'qa'
  /** Gathers information for the other agents. */
  | 'researcher'
  /** Reviews the change. */
  | 'reviewer';

/** The next fragments of a sandbox. */
export type AppendFragmentsRequest = {
  /** 1 to 50 fragments. */
  fragments: Array<AppendFragmentsRequestFragments>;
  /** The lease of the run that the sandbox belongs to. */
  leaseId: Scalars['String']['input'];
  /** The `sandboxId` that `registerSandbox` has returned. */
  sandboxId: Scalars['String']['input'];
  /** Number of the first fragment; further fragments follow without a gap. */
  seq: Scalars['Int']['input'];
};

/** One thought, action or message of the agent. */
export type AppendFragmentsRequestFragments = {
  /** Name of the tool, for an action and for a question about its call. */
  action?: InputMaybe<Scalars['String']['input']>;
  /** The text of a thought, an answer, a question, an error or a prompt. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Answers that a question suggests, at most 4. */
  choices?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Exit code of a command that has ended. */
  exitCode?: InputMaybe<Scalars['Int']['input']>;
  /** Whether an action that has ended failed. */
  failed?: InputMaybe<Scalars['Boolean']['input']>;
  /** The steps of a plan. */
  items?: InputMaybe<Array<AppendFragmentsRequestFragmentsItems>>;
  /** Kind of the fragment, which decides which other fields are present. */
  kind: SandboxFragmentKind;
  /** Input of the tool, for an action and for a question about its call. */
  parameter?: InputMaybe<Scalars['String']['input']>;
  /** Output of the tool, for an action. */
  result?: InputMaybe<Scalars['String']['input']>;
  /** When the fragment was created. */
  t: Scalars['EpochMs']['input'];
  /** The id of the use, for an action or question; a later action with the same id has the result. */
  toolUseId?: InputMaybe<Scalars['String']['input']>;
};

/** A step of a plan. */
export type AppendFragmentsRequestFragmentsItems = {
  /** Description of the step. */
  content: Scalars['String']['input'];
  /** Status of the step. */
  status: Scalars['String']['input'];
};

/** The next piece of a session’s log. */
export type AppendLogRequest = {
  /** The text of the piece. */
  content: Scalars['String']['input'];
  /** The lease of the run that the sandbox belongs to. */
  leaseId: Scalars['String']['input'];
  /** The log of the session that the piece belongs to. */
  part: SandboxLogPart;
  /** The origin of a span of a prompt; `repo-contributed` when absent. */
  promptScope?: InputMaybe<Scalars['PromptScope']['input']>;
  /** The role of the agent. */
  role: AgentRole;
  /** The `sandboxId` that `registerSandbox` has returned. */
  sandboxId: Scalars['String']['input'];
  /** The sequence number, which counts from 0 without a gap; stored entries may be repeated. */
  seq: Scalars['Int']['input'];
  /** The runtime’s own id of the session. */
  sessionId: Scalars['String']['input'];
  /** The span of the prompt: required in the part `prompt`, not allowed in other parts. */
  spanId?: InputMaybe<Scalars['String']['input']>;
};

/** A piece of the output of a shell. */
export type AppendTerminalOutputRequest = {
  /** Output of the shell. */
  content: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Number of the piece, from 0 without a gap; a repeated piece changes nothing. */
  seq: Scalars['Int']['input'];
  /** The id from the answer to a heartbeat. */
  terminalId: Scalars['String']['input'];
};

/** Kind of an artifact. */
export type ArtifactKind =
  /** Any other file. */
  | 'file'
  /** Output of a program. */
  | 'log'
  /** A document for people to read. */
  | 'report'
  /** An image of a page. */
  | 'screenshot'
  /** A recorded browser session, for a trace viewer. */
  | 'trace'
  /** A recording. */
  | 'video';

/** The offer of a runtime in its request for a run. */
export type ClaimRunRequest = {
  /** The runtime’s own id of this claim: a repeated claim returns the same run. */
  claimId?: InputMaybe<Scalars['String']['input']>;
  /** Number of CPUs that a mission can have; absent when unknown. */
  cpus?: InputMaybe<Scalars['Float']['input']>;
  /** Disk space that a mission can have, MiB; absent when unknown. */
  diskMb?: InputMaybe<Scalars['Int']['input']>;
  /** The harnesses that the runtime can execute. */
  harnesses: Array<Scalars['Harness']['input']>;
  /** How missions are isolated from each other, such as `cell`, `container` or `none`; shown to people. */
  isolation?: InputMaybe<Scalars['String']['input']>;
  /** The labels of the runtime, which sandbox templates ask for: at most 20. Absent means none. */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Memory that a mission can have, MiB; absent when unknown. */
  memoryMb?: InputMaybe<Scalars['Int']['input']>;
  /** The vendors whose models the runtime has credentials for; absent means all that its harnesses need. */
  modelVendors?: InputMaybe<Array<ModelVendor>>;
  /** Why a harness is not offered yet, for example because it is being installed; shown to people. */
  notice?: InputMaybe<Scalars['String']['input']>;
  /** Maximum number of concurrent missions. */
  places?: InputMaybe<Scalars['Int']['input']>;
  /** Whether the runtime answers the calls of a step with `replay` from a recording. Absent means no: it then gets no forks of missions. */
  replays?: InputMaybe<Scalars['Boolean']['input']>;
  /** The only run to claim: the response is null when this runtime cannot claim it. Absent means any. */
  runId?: InputMaybe<Scalars['String']['input']>;
  /** The name of this runtime, shown to people. */
  runtime: Scalars['String']['input'];
  /** The versions of the harnesses, shown to people. */
  versions?: InputMaybe<Array<ClaimRunRequestVersions>>;
};

/** The version of a harness. */
export type ClaimRunRequestVersions = {
  /** One of `harnesses`. */
  harness: Scalars['Harness']['input'];
  /** The version that the program reports. */
  version: Scalars['String']['input'];
};

/** Phase in which a run opened a connection. */
export type ConnectionPhase =
  /** An agent or a script was working. */
  | 'agent'
  /** The environment was being prepared. */
  | 'setup';

/** Result of an attempted connection. */
export type ConnectionVerdict =
  /** The connection was made. */
  | 'allowed'
  /** The network policy does not name the host. */
  | 'blocked'
  /** The host is allowed, but could not be reached. */
  | 'failed'
  /** The name resolves to an address that is not public, which no policy allows. */
  | 'not_public'
  /** The name could not be resolved. */
  | 'unknown_host'
  /** A program rejected the certificate with which the runner adds secrets to requests: it ignores the variables that name the certificate authority. */
  | 'untrusted';

/** The run whose artifact is to be uploaded. */
export type CreateArtifactUploadRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** The required action of a runtime: `run` continues, `stop` ends at once. */
export type Desired =
  /** Continue. */
  | 'run'
  /** End the work at once, because it was canceled or killed, or has expired. */
  | 'stop';

/** Outcome of a run or a sandbox. */
export type Ending =
  /** The agent finished its work. */
  | 'completed'
  /** The run or sandbox ended before the work was finished. */
  | 'failed';

/** The next status of a preview environment. */
export type EnvironmentMove =
  /** The environment can be reached at its URL. */
  | 'active'
  /** The environment has been taken down. */
  | 'destroyed'
  /** The runtime has started to take the environment down. */
  | 'destroying'
  /** The environment could not be started, or could not be taken down. */
  | 'failed';

/** The end of a run. */
export type FinishRunRequest = {
  /** Whether costs are known to be missing from the sum. */
  costIncomplete?: InputMaybe<Scalars['Boolean']['input']>;
  /** The error, shown to people. */
  error?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Whether the mission was completed. */
  status: Ending;
};

/** The end of a sandbox. */
export type FinishSandboxRequest = {
  /** The lease of the run that the sandbox belongs to. */
  leaseId: Scalars['String']['input'];
  /** The `sandboxId` that `registerSandbox` has returned. */
  sandboxId: Scalars['String']['input'];
  /** Status at the end. */
  status: Ending;
  /** The reason for its end, shown to people. */
  terminationReason?: InputMaybe<Scalars['String']['input']>;
};

/** The end of a step. Push its commits first: another runtime may work on the next step. */
export type FinishStepRequest = {
  /** The error, shown to people. */
  error?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The structured output as JSON, for a step with a schema. */
  output?: InputMaybe<Scalars['String']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The harness’ own id of the session: a later step may continue it. */
  sessionId?: InputMaybe<Scalars['String']['input']>;
  /** Whether the agent finished its turn. */
  status: Ending;
  /** A step of the run. */
  stepId: Scalars['String']['input'];
  /** Number of model turns. */
  turns?: InputMaybe<Scalars['Int']['input']>;
};

/** A run that the runtime cannot continue; another runtime may claim it. */
export type HandBackRunRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Reason why the runtime cannot continue the run: 1 to 400 characters. */
  reason: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** Everything that a runtime works on. Omitted runs get no heartbeat. */
export type HeartbeatRequest = {
  /** Ids of the preview environments that the runtime serves, at most 100. */
  environments?: InputMaybe<Array<Scalars['String']['input']>>;
  /** At most 50 runs that the runtime works on. */
  runs?: InputMaybe<Array<HeartbeatRequestRuns>>;
  /** At most 50 sandboxes that are running. */
  sandboxes?: InputMaybe<Array<HeartbeatRequestSandboxes>>;
};

/** A run that the runtime works on. */
export type HeartbeatRequestRuns = {
  /** Ids of messages that the agent of the run has read; they are not delivered again. */
  acknowledged?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Current activity; absent means unchanged. */
  activity?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Progress in percent; an absent or lower value changes nothing. */
  progress?: InputMaybe<Scalars['Int']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** A sandbox that is running. */
export type HeartbeatRequestSandboxes = {
  /** The lease of the run that the sandbox belongs to. */
  leaseId: Scalars['String']['input'];
  /** At most 120 samples; a repeated sample is stored once. */
  metrics?: InputMaybe<Array<HeartbeatRequestSandboxesMetrics>>;
  /** The `sandboxId` that `registerSandbox` has returned. */
  sandboxId: Scalars['String']['input'];
};

/** One measurement of a sandbox. */
export type HeartbeatRequestSandboxesMetrics = {
  /** CPU use in percent of all cores, 0 to 100. */
  cpuPct: Scalars['Float']['input'];
  /** Disk use in percent of the space that the mission may take. */
  diskUsedPct: Scalars['Float']['input'];
  /** All memory, megabytes. */
  memTotalMb: Scalars['Float']['input'];
  /** Memory in use, megabytes. */
  memUsedMb: Scalars['Float']['input'];
  /** When the sample was measured: within the last 28 days. */
  t: Scalars['EpochMs']['input'];
};

/** A runtime that shuts down. */
export type LeaveRuntimeRequest = {
  /** The name of this runtime, as in its claims. */
  runtime: Scalars['String']['input'];
};

/** Outcome of a tool call. */
export type McpCallOutcome =
  /** The server could not be reached or returned an invalid response. */
  | 'failed'
  /** The tool returned a result. */
  | 'ok'
  /** The gateway did not forward the call. */
  | 'refused'
  /** The tool returned an error. */
  | 'tool_error';

/** The vendor of a language model. */
export type ModelVendor =
  /** The Claude models. */
  | 'anthropic'
  /** The GPT models. */
  | 'openai';

/** The next status of a preview environment. */
export type MoveEnvironmentRequest = {
  /** The `environmentId` that `registerEnvironment` has returned. */
  environmentId: Scalars['String']['input'];
  /** A status that may follow the current one. */
  status: EnvironmentMove;
};

/** Set of hosts that can be connected to. */
export type NetworkMode =
  /** Only the hosts that the policy names. */
  | 'custom'
  /** No host. */
  | 'none'
  /** Every public host. */
  | 'open'
  /** Public package registries, as the service lists them, and hosts that the policy adds. */
  | 'packages';

/** A part of the recording of a run that a runtime is about to store. */
export type OpenRecordingPartRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Your own id of the part: a repeated request changes nothing. */
  part: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** The run whose repository is to be reached. */
export type OpenRepositoryRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** One of the `skillRepos` of the agents of the run; absent means the repository of its project. */
  skillRepo?: InputMaybe<Scalars['String']['input']>;
  /** Whether the runtime can report commits as a bundle: required if pushes wait for approval. */
  stagesPushes?: InputMaybe<Scalars['Boolean']['input']>;
};

/** Status of the preparation of an environment. */
export type PreparationStatus =
  /** The setup failed or took too long; `lastLines` shows why. */
  | 'failed'
  /** The setup runs. */
  | 'preparing'
  /** Agents work in the environment. */
  | 'ready';

/** A shell that runs and waits for input. */
export type ReadTerminalRequest = {
  /** Number of the next piece of input, from 0; the earlier pieces are deleted. */
  from: Scalars['Int']['input'];
  /** Whether the shell has a terminal device. */
  hasDevice: Scalars['Boolean']['input'];
  /** Lines that the shell has now. */
  height: Scalars['Int']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The id from the answer to a heartbeat. */
  terminalId: Scalars['String']['input'];
  /** Characters of a line that the shell has now. */
  width: Scalars['Int']['input'];
};

/** An artifact whose content has been uploaded. */
export type RegisterArtifactRequest = {
  /** A title to show. */
  caption?: InputMaybe<Scalars['String']['input']>;
  /** The `contentKey` that `createArtifactUpload` has returned, once the upload is complete. */
  contentKey: Scalars['String']['input'];
  /** The media type of the bytes, such as image/png. */
  contentType: Scalars['String']['input'];
  /** The acceptance criterion that the artifact is evidence for. */
  criterion?: InputMaybe<Scalars['String']['input']>;
  /** Whether the acceptance criterion is met. */
  criterionPassed?: InputMaybe<Scalars['Boolean']['input']>;
  /** The kind of the content. */
  kind: ArtifactKind;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The role of the agent. */
  role: AgentRole;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The sandbox that the artifact was created in. */
  sandboxId?: InputMaybe<Scalars['String']['input']>;
  /** The runtime’s own id of the session. */
  sessionId?: InputMaybe<Scalars['String']['input']>;
  /** A page that shows the trace, if the artifact is one. */
  traceViewerUrl?: InputMaybe<Scalars['String']['input']>;
};

/** A preview environment that the runtime is starting. */
export type RegisterEnvironmentRequest = {
  /** When the environment is to be taken down; if absent, a person or the runtime ends it. */
  expiresAt?: InputMaybe<Scalars['EpochMs']['input']>;
  /** The runtime’s own id: a repeated request with the same id changes nothing. */
  key: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The pull request of the change. */
  prNumber?: InputMaybe<Scalars['Int']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The name of the deployment at its platform. */
  workerName?: InputMaybe<Scalars['String']['input']>;
};

/** A sandbox that the runtime has started for a run. */
export type RegisterSandboxRequest = {
  /** The harness that runs in the sandbox. */
  harness: Scalars['Harness']['input'];
  /** The version that the harness reports. */
  harnessVersion?: InputMaybe<Scalars['String']['input']>;
  /** The size of the sandbox. */
  instanceType: Scalars['InstanceType']['input'];
  /** The runtime’s own id: a repeated request with the same id changes nothing. */
  key: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The role of the agent. */
  role: AgentRole;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Deadline at which a running sandbox is ended. */
  timeoutAt?: InputMaybe<Scalars['EpochMs']['input']>;
};

/** A branch that the runtime of a run has pushed, or that waits to be pushed. */
export type ReportBranchRequest = {
  /** The branch into which the pushed one is to be merged. */
  baseBranch: Scalars['String']['input'];
  /** The newest commit that both branches share. */
  baseSha?: InputMaybe<Scalars['String']['input']>;
  /** Body of the pull request: the changes and their reasons. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** The uploaded git bundle with these commits, which wait for approval; absent for a pushed branch. */
  bundleContentKey?: InputMaybe<Scalars['String']['input']>;
  /** The artifact of the diff of these commits, as `git diff` prints it. */
  changeArtifactId?: InputMaybe<Scalars['String']['input']>;
  /** Commits of the branch since it left the base branch. */
  commits?: InputMaybe<Scalars['Int']['input']>;
  /** The artifact of the single commits (`ChangeVersion.commitsArtifact`). */
  commitsArtifactId?: InputMaybe<Scalars['String']['input']>;
  /** Lines that these commits remove. */
  deletions?: InputMaybe<Scalars['Int']['input']>;
  /** The commit that the branch has at the source host, for a bundle; absent for a new branch. */
  expectedSha?: InputMaybe<Scalars['String']['input']>;
  /** Files that these commits change. */
  files?: InputMaybe<Scalars['Int']['input']>;
  /** The newest commit of the branch. */
  headSha: Scalars['String']['input'];
  /** Lines that these commits add. */
  insertions?: InputMaybe<Scalars['Int']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The commits that the agent has added since the last report, oldest first, at most the newest 200: each gets an attestation. */
  newCommits?: InputMaybe<Array<ReportBranchRequestNewCommits>>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Title of the pull request; absent means the title of the mission. */
  title?: InputMaybe<Scalars['String']['input']>;
};

/** A commit. */
export type ReportBranchRequestNewCommits = {
  /** The id of the commit. */
  sha: Scalars['String']['input'];
  /** The id of its tree, read from the commit itself. */
  tree: Scalars['String']['input'];
};

/** The workspace during or after a step. It replaces the checkpoint of that step. */
export type ReportCheckpointRequest = {
  /** The commit of all files of the workspace. */
  commitSha: Scalars['String']['input'];
  /** The `contentKey` that `createArtifactUpload` has returned, once a git bundle is uploaded. */
  contentKey: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The harness’ own id of the session that works on the step. */
  sessionId?: InputMaybe<Scalars['String']['input']>;
  /** A step of the run. */
  stepId: Scalars['String']['input'];
};

/** Connections that the sandbox of a run attempted. The platform adds them to the totals of the run. */
export type ReportConnectionsRequest = {
  /** 1 to 200 entries; equal entries are added up. */
  connections: Array<ReportConnectionsRequestConnections>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The runtime’s own id of this report: repeating the last report changes nothing. */
  reportId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** Connections of one kind since the last report. */
export type ReportConnectionsRequestConnections = {
  /** Number of connections since the last report. */
  count: Scalars['Int']['input'];
  /** The requested name or address, in lower case. */
  host: Scalars['String']['input'];
  /** The phase of the connection. */
  phase: ConnectionPhase;
  /** The requested port. */
  port: Scalars['Int']['input'];
  /** Names of the programs that requested the connections, without arguments; empty if they are unknown. */
  programs?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Bytes received from the host since the last report. */
  receivedBytes?: InputMaybe<Scalars['SafeInt']['input']>;
  /** Bytes sent to the host since the last report. */
  sentBytes?: InputMaybe<Scalars['SafeInt']['input']>;
  /** Result of the connection. */
  verdict: ConnectionVerdict;
};

/** A cost that a run has caused. */
export type ReportCostRequest = {
  /** The runtime’s own id: a repeated request with the same id changes nothing. */
  costId: Scalars['String']['input'];
  /** Whether costs are known to be missing. */
  incomplete?: InputMaybe<Scalars['Boolean']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The role of the session that the cost is added to; sent with `sessionId`. */
  role?: InputMaybe<AgentRole>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The sandbox that caused the cost. */
  sandboxId?: InputMaybe<Scalars['String']['input']>;
  /** The runtime’s own id of the session. */
  sessionId?: InputMaybe<Scalars['String']['input']>;
  /** The cost in US dollars, rounded to a millionth. */
  usd: Scalars['Float']['input'];
};

/** A call that was made. */
export type ReportMcpCallRequest = {
  /** SHA-256 of the arguments as JSON, hexadecimal. */
  argumentsSha256?: InputMaybe<Scalars['String']['input']>;
  /** Milliseconds from its start to its end. */
  durationMs: Scalars['Int']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The outcome of the call. */
  outcome: McpCallOutcome;
  /** SHA-256 of the result as JSON; absent without one. */
  resultSha256?: InputMaybe<Scalars['String']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The `serverName` that `runMcpCommands` has returned. */
  serverName: Scalars['String']['input'];
  /** The server’s name for the tool. */
  tool: Scalars['String']['input'];
};

/** The tools of a server that was started, or why it was not. */
export type ReportMcpToolsRequest = {
  /** Why the server was not started; absent when it was. */
  error?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Checksum of the first package, as in lock files of npm; absent for a file of the repository. */
  packageIntegrity?: InputMaybe<Scalars['String']['input']>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The `serverName` that `runMcpCommands` has returned. */
  serverName: Scalars['String']['input'];
  /** The list of tools as JSON; absent if `error` is present. */
  tools?: InputMaybe<Scalars['String']['input']>;
};

/** A model connector whose credentials the vendor rejects. */
export type ReportModelRejectedRequest = {
  /** A model connector, from the answer of `runModels`. */
  integrationId: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** Status of the preparation of the environment of a run. A later report replaces an earlier one. */
export type ReportPreparationRequest = {
  /** Size on the disk. */
  bytes?: InputMaybe<Scalars['SafeInt']['input']>;
  /** The commit that the environment is prepared at; absent without a repository. */
  commit?: InputMaybe<Scalars['String']['input']>;
  /** The runtime’s own id of the prepared environment: the same for the same template, commit and lock files. */
  key: Scalars['String']['input'];
  /** The last lines of the setup’s log. */
  lastLines?: InputMaybe<Scalars['String']['input']>;
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Messages for people about parts that are left out, such as unsupported members of devcontainer.json. */
  notes?: InputMaybe<Array<Scalars['String']['input']>>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Duration in seconds; 0 when an existing environment was reused. */
  seconds?: InputMaybe<Scalars['Float']['input']>;
  /** Status of the preparation. */
  status: PreparationStatus;
  /** The `templateId` of the environment of the step. */
  templateId: Scalars['String']['input'];
};

/** A part of the recording of a run: JSON lines since the previous part. */
export type ReportRecordingPartRequest = {
  /** Number of calls in the part. */
  calls: Scalars['Int']['input'];
  /** The `contentKey` of the upload: 12 bytes nonce, 16 bytes tag, and the ciphertext of AES-256-GCM of the lines compressed with Brotli. */
  contentKey: Scalars['String']['input'];
  /** The `keyId` of `openRecordingPart`, for the key with which the content is encrypted. */
  keyId: Scalars['String']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Number of calls whose content is left out. */
  omitted: Scalars['Int']['input'];
  /** Your own id of the part: a repeated request changes nothing. */
  part: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** Size of the lines in bytes. */
  sizeBytes: Scalars['Int']['input'];
};

/** A session of a harness in a sandbox: its start, or its outcome. */
export type ReportSessionRequest = {
  /** The lease of the run that the sandbox belongs to. */
  leaseId: Scalars['String']['input'];
  /** Outcome of the session; absent while it is open. */
  outcome?: InputMaybe<Scalars['String']['input']>;
  /** The role of the agent. */
  role: AgentRole;
  /** The `sandboxId` that `registerSandbox` has returned. */
  sandboxId: Scalars['String']['input'];
  /** The runtime’s own id of the session. */
  sessionId: Scalars['String']['input'];
};

/** The end of a shell. */
export type ReportTerminalEndRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** Why it has ended, for the person. */
  reason: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The id from the answer to a heartbeat. */
  terminalId: Scalars['String']['input'];
};

/** Tokens that a step has used. The platform computes their cost from the list prices of the catalog. */
export type ReportUsageRequest = {
  /** The answer of the vendor to a model call, for attestations and the metrics of the service. */
  answer?: InputMaybe<ReportUsageRequestAnswer>;
  /** Input tokens written to the vendor’s cache. */
  cacheWriteTokens?: InputMaybe<Scalars['Int']['input']>;
  /** Input tokens read from the vendor’s cache. */
  cachedInputTokens?: InputMaybe<Scalars['Int']['input']>;
  /** The `callId` of the reserved call that this usage ends. */
  callId?: InputMaybe<Scalars['String']['input']>;
  /** Input tokens, without those that were read from or written to a cache. */
  inputTokens: Scalars['Int']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The id of the model that answered, at its vendor; a date at its end is ignored. */
  model: Scalars['String']['input'];
  /** Output tokens, including those of reasoning. */
  outputTokens: Scalars['Int']['input'];
  /** The role of the session that the cost is added to; sent with `sessionId`. */
  role?: InputMaybe<AgentRole>;
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
  /** The sandbox that caused the cost. */
  sandboxId?: InputMaybe<Scalars['String']['input']>;
  /** The runtime’s own id of the session. */
  sessionId?: InputMaybe<Scalars['String']['input']>;
  /** A step of the run. */
  stepId: Scalars['String']['input'];
  /** The runtime’s own id: a repeated request with the same id changes nothing. */
  usageId: Scalars['String']['input'];
};

/** The answer of the vendor to a model call. */
export type ReportUsageRequestAnswer = {
  /** SHA-256 of the body that was sent to the vendor, hexadecimal. */
  requestSha256?: InputMaybe<Scalars['String']['input']>;
  /** SHA-256 of the body of the answer, as far as it was received. */
  responseSha256?: InputMaybe<Scalars['String']['input']>;
  /** The HTTP status; 0 means that there was no answer. */
  status: Scalars['Int']['input'];
  /** The vendor that was asked. */
  vendor: ModelVendor;
};

/** A model call that a runtime is about to make. */
export type ReserveModelCallRequest = {
  /** Your own id of the call: a repeated request gets the same answer. */
  callId: Scalars['String']['input'];
  /** Upper bound of the input tokens, including cached ones. */
  inputTokens: Scalars['Int']['input'];
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** The id of the model at its vendor. */
  model: Scalars['String']['input'];
  /** Maximum output tokens of the answer. */
  outputTokens: Scalars['Int']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** Action that a runtime must take on a run. */
export type RunDesired =
  /** Interrupt the turn of the agent, and keep its session until `run` or `stop`. Heartbeats continue. */
  | 'interrupt'
  /** Continue; after `interrupt`, resume the session. */
  | 'run'
  /** End the run at once, because it was canceled, has expired, or has reached a limit. */
  | 'stop';

/** Kind of a fragment of an agent’s work. */
export type SandboxFragmentKind =
  /** A use of a tool: `action`, `parameter` and `result`. */
  | 'action'
  /** A question to a person, in `body`; with `action` and `parameter`, about the call of a tool. */
  | 'elicitation'
  /** An error, described in `body`. */
  | 'error'
  /** The steps that the agent intends to take, in `items`. */
  | 'plan'
  /** An instruction to the agent, in `body`. */
  | 'prompt'
  /** An answer of the agent, in `body`. */
  | 'response'
  /** Reasoning of the model, in `body`. */
  | 'thought';

/** Which log of a session. */
export type SandboxLogPart =
  /** The prompt that the agent started with, in spans. */
  | 'prompt'
  /** Output of the harness. */
  | 'session'
  /** Messages of the runtime about the session. */
  | 'system';

/** The run whose commits are to be attested. */
export type SignAttestationsRequest = {
  /** The `leaseId` that `claimRun` has returned. */
  leaseId: Scalars['String']['input'];
  /** A run on which this runtime has a lease. */
  runId: Scalars['String']['input'];
};

/** Next action after a finished step. */
export type StepOutcome =
  /** The work is done: the runtime calls `finishRun`. */
  | 'done'
  /** The next step needs another harness. The lease has ended: a runtime that offers it can claim the run. */
  | 'handed_back'
  /** The runtime works on `step`. */
  | 'next'
  /** A person must approve the plan. The lease has ended: the run can be claimed once it is approved. */
  | 'waiting';

/** Base of a sandbox. */
export type TemplateBase =
  /** An image that the runtime builds. */
  | 'dockerfile'
  /** A container image. */
  | 'image'
  /** The programs of the runtime’s machine, or the runtime’s own image if the runtime uses containers. */
  | 'machine';

export type StepPartsFragment = { stepId: string, traceparent: string | null, prompt: string, outputSchema: string | null, resumeSessionId: string | null, resumePrompt: string | null, preamble: string | null, isRecorded: boolean, replay: { url: string, runId: string, stepId: string, call: number | null } | null, checkpoint: { commitSha: string, url: string } | null, agent: { name: string, role: AgentRole, isReadOnly: boolean, harness: string, model: string, effort: AgentEffort | null, userPrompt: string | null, skillRepos: Array<string> }, environment: { templateId: string, templateName: string, base: TemplateBase, image: string | null, dockerfile: string | null, setupScript: string | null, instanceType: string, cpus: number | null, memoryMb: number, diskMb: number | null, processes: number | null, stepMinutes: number | null, stepModelCalls: number | null, stepTokens: number | null, variables: Array<{ name: string, value: string }>, secrets: Array<{ name: string, value: string, hosts: Array<string>, setupOnly: boolean }>, services: Array<{ name: string, image: string, command: Array<string> | null, healthCheck: string | null, variables: Array<{ name: string, value: string }> }>, setupNetwork: { mode: NetworkMode, hosts: Array<string> }, agentNetwork: { mode: NetworkMode, hosts: Array<string> } } };

export type ClaimRunMutationVariables = Exact<{
  input: ClaimRunRequest;
}>;


export type ClaimRunMutation = { answer: { runId: string, leaseId: string, orgId: string, missionTitle: string | null, stepTimeoutMs: number, answerTimeoutMs: number, maxTurns: number, step: StepPartsFragment } | null };

export type RegisterSandboxMutationVariables = Exact<{
  input: RegisterSandboxRequest;
}>;


export type RegisterSandboxMutation = { answer: { sandboxId: string } };

export type ReportSessionMutationVariables = Exact<{
  input: ReportSessionRequest;
}>;


export type ReportSessionMutation = { answer: { ok: true } };

export type HeartbeatMutationVariables = Exact<{
  input: HeartbeatRequest;
}>;


export type HeartbeatMutation = { answer: { nextHeartbeatMs: number, runs: Array<{ desired: RunDesired, modelRevision: string | null, messages: Array<{ messageId: string, text: string, author: string, questionId: string | null, approved: boolean | null }>, terminals: Array<{ terminalId: string, author: string, width: number, height: number }> }>, sandboxes: Array<{ desired: Desired }>, environments: Array<{ desired: Desired }> } };

export type ReadTerminalMutationVariables = Exact<{
  input: ReadTerminalRequest;
}>;


export type ReadTerminalMutation = { answer: { width: number, height: number, endReason: string | null, input: Array<{ seq: number, text: string }> } };

export type AppendTerminalOutputMutationVariables = Exact<{
  input: AppendTerminalOutputRequest;
}>;


export type AppendTerminalOutputMutation = { answer: { nextSeq: number } };

export type ReportTerminalEndMutationVariables = Exact<{
  input: ReportTerminalEndRequest;
}>;


export type ReportTerminalEndMutation = { answer: { ok: true } };

export type AppendLogMutationVariables = Exact<{
  input: AppendLogRequest;
}>;


export type AppendLogMutation = { answer: { nextSeq: number } };

export type AppendFragmentsMutationVariables = Exact<{
  input: AppendFragmentsRequest;
}>;


export type AppendFragmentsMutation = { answer: { nextSeq: number } };

export type ReportUsageMutationVariables = Exact<{
  input: ReportUsageRequest;
}>;


export type ReportUsageMutation = { answer: { ok: true } };

export type ReserveModelCallMutationVariables = Exact<{
  input: ReserveModelCallRequest;
}>;


export type ReserveModelCallMutation = { answer: { outputTokens: number, reason: string | null } };

export type ReportCostMutationVariables = Exact<{
  input: ReportCostRequest;
}>;


export type ReportCostMutation = { answer: { ok: true } };

export type RegisterEnvironmentMutationVariables = Exact<{
  input: RegisterEnvironmentRequest;
}>;


export type RegisterEnvironmentMutation = { answer: { environmentId: string } };

export type MoveEnvironmentMutationVariables = Exact<{
  input: MoveEnvironmentRequest;
}>;


export type MoveEnvironmentMutation = { answer: { ok: true } };

export type OpenRepositoryMutationVariables = Exact<{
  input: OpenRepositoryRequest;
}>;


export type OpenRepositoryMutation = { answer: { url: string, username: string | null, password: string | null, defaultBranch: string, branch: string, pushWaits: boolean } };

export type ReportBranchMutationVariables = Exact<{
  input: ReportBranchRequest;
}>;


export type ReportBranchMutation = { answer: { prNumber: number | null } };

export type SignAttestationsMutationVariables = Exact<{
  input: SignAttestationsRequest;
}>;


export type SignAttestationsMutation = { answer: { data: Array<{ sha: string, envelope: { payloadType: string, payload: string, signatures: Array<{ keyid: string, sig: string }> } }> } };

export type ReportCheckpointMutationVariables = Exact<{
  input: ReportCheckpointRequest;
}>;


export type ReportCheckpointMutation = { answer: { ok: true } };

export type ReportPreparationMutationVariables = Exact<{
  input: ReportPreparationRequest;
}>;


export type ReportPreparationMutation = { answer: { ok: true } };

export type ReportConnectionsMutationVariables = Exact<{
  input: ReportConnectionsRequest;
}>;


export type ReportConnectionsMutation = { answer: { ok: true } };

export type CreateArtifactUploadMutationVariables = Exact<{
  input: CreateArtifactUploadRequest;
}>;


export type CreateArtifactUploadMutation = { answer: { contentKey: string, uploadUrl: string } };

export type RegisterArtifactMutationVariables = Exact<{
  input: RegisterArtifactRequest;
}>;


export type RegisterArtifactMutation = { answer: { artifactId: string } };

export type OpenRecordingPartMutationVariables = Exact<{
  input: OpenRecordingPartRequest;
}>;


export type OpenRecordingPartMutation = { answer: { key: string, keyId: string } };

export type ReportRecordingPartMutationVariables = Exact<{
  input: ReportRecordingPartRequest;
}>;


export type ReportRecordingPartMutation = { answer: { ok: true } };

export type ReportModelRejectedMutationVariables = Exact<{
  input: ReportModelRejectedRequest;
}>;


export type ReportModelRejectedMutation = { answer: { ok: true } };

export type FinishSandboxMutationVariables = Exact<{
  input: FinishSandboxRequest;
}>;


export type FinishSandboxMutation = { answer: { ok: true } };

export type FinishStepMutationVariables = Exact<{
  input: FinishStepRequest;
}>;


export type FinishStepMutation = { answer: { outcome: StepOutcome, failure: string | null, step: StepPartsFragment | null } };

export type FinishRunMutationVariables = Exact<{
  input: FinishRunRequest;
}>;


export type FinishRunMutation = { answer: { ok: true } };

export type HandBackRunMutationVariables = Exact<{
  input: HandBackRunRequest;
}>;


export type HandBackRunMutation = { answer: { ok: true } };

export type RunMcpServersQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  leaseId: Scalars['String']['input'];
}>;


export type RunMcpServersQuery = { answer: Array<{ serverName: string, url: string, alwaysAsk: Array<string> }> };

export type RunModelsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  leaseId: Scalars['String']['input'];
}>;


export type RunModelsQuery = { answer: { revision: string, connectors: Array<{ integrationId: string, name: string, vendor: ModelVendor, baseUrl: string, apiKey: string }> } };

export type RuntimeOrdersQueryVariables = Exact<{
  runtime: Scalars['String']['input'];
}>;


export type RuntimeOrdersQuery = { answer: { isDraining: boolean, release: string } };

export type LeaveRuntimeMutationVariables = Exact<{
  input: LeaveRuntimeRequest;
}>;


export type LeaveRuntimeMutation = { answer: { ok: true } };

export type HarnessDemandQueryVariables = Exact<{ [key: string]: never; }>;


export type HarnessDemandQuery = { answer: { modelVendors: Array<ModelVendor>, harnesses: Array<string> } };

export type RunMcpCommandsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  leaseId: Scalars['String']['input'];
}>;


export type RunMcpCommandsQuery = { answer: Array<{ serverName: string, packages: Array<string>, program: string | null, args: Array<string>, packageIntegrity: string | null, refusal: string | null, env: Array<{ name: string, value: string }>, credentials: Array<{ name: string, value: string }> }> };

export type ReportMcpToolsMutationVariables = Exact<{
  input: ReportMcpToolsRequest;
}>;


export type ReportMcpToolsMutation = { answer: { tools: Array<string>, refusal: string | null } };

export type AdmitMcpCallMutationVariables = Exact<{
  input: AdmitMcpCallRequest;
}>;


export type AdmitMcpCallMutation = { answer: { needsPerson: boolean } };

export type ReportMcpCallMutationVariables = Exact<{
  input: ReportMcpCallRequest;
}>;


export type ReportMcpCallMutation = { answer: { ok: true } };

export const claimRun: Operation<ClaimRunMutation, ClaimRunMutationVariables> = {
  text: 'mutation ClaimRun($input:ClaimRunRequest!){answer:claimRun(input:$input){runId leaseId orgId missionTitle stepTimeoutMs answerTimeoutMs maxTurns step{...StepParts}}}fragment StepParts on RunStep{stepId traceparent prompt outputSchema resumeSessionId resumePrompt preamble isRecorded replay{url runId stepId call}checkpoint{commitSha url}agent{name role isReadOnly harness model effort userPrompt skillRepos}environment{templateId templateName base image dockerfile setupScript variables{name value}secrets{name value hosts setupOnly}services{name image variables{name value}command healthCheck}setupNetwork{mode hosts}agentNetwork{mode hosts}instanceType cpus memoryMb diskMb processes stepMinutes stepModelCalls stepTokens}}',
};

export const registerSandbox: Operation<RegisterSandboxMutation, RegisterSandboxMutationVariables> = {
  text: 'mutation RegisterSandbox($input:RegisterSandboxRequest!){answer:registerSandbox(input:$input){sandboxId}}',
};

export const reportSession: Operation<ReportSessionMutation, ReportSessionMutationVariables> = {
  text: 'mutation ReportSession($input:ReportSessionRequest!){answer:reportSession(input:$input){ok}}',
};

export const heartbeat: Operation<HeartbeatMutation, HeartbeatMutationVariables> = {
  text: 'mutation Heartbeat($input:HeartbeatRequest!){answer:heartbeat(input:$input){runs{desired modelRevision messages{messageId text author questionId approved}terminals{terminalId author width height}}nextHeartbeatMs sandboxes{desired}environments{desired}}}',
};

export const readTerminal: Operation<ReadTerminalMutation, ReadTerminalMutationVariables> = {
  text: 'mutation ReadTerminal($input:ReadTerminalRequest!){answer:readTerminal(input:$input){input{seq text}width height endReason}}',
};

export const appendTerminalOutput: Operation<AppendTerminalOutputMutation, AppendTerminalOutputMutationVariables> = {
  text: 'mutation AppendTerminalOutput($input:AppendTerminalOutputRequest!){answer:appendTerminalOutput(input:$input){nextSeq}}',
};

export const reportTerminalEnd: Operation<ReportTerminalEndMutation, ReportTerminalEndMutationVariables> = {
  text: 'mutation ReportTerminalEnd($input:ReportTerminalEndRequest!){answer:reportTerminalEnd(input:$input){ok}}',
};

export const appendLog: Operation<AppendLogMutation, AppendLogMutationVariables> = {
  text: 'mutation AppendLog($input:AppendLogRequest!){answer:appendLog(input:$input){nextSeq}}',
};

export const appendFragments: Operation<AppendFragmentsMutation, AppendFragmentsMutationVariables> = {
  text: 'mutation AppendFragments($input:AppendFragmentsRequest!){answer:appendFragments(input:$input){nextSeq}}',
};

export const reportUsage: Operation<ReportUsageMutation, ReportUsageMutationVariables> = {
  text: 'mutation ReportUsage($input:ReportUsageRequest!){answer:reportUsage(input:$input){ok}}',
};

export const reserveModelCall: Operation<ReserveModelCallMutation, ReserveModelCallMutationVariables> = {
  text: 'mutation ReserveModelCall($input:ReserveModelCallRequest!){answer:reserveModelCall(input:$input){outputTokens reason}}',
};

export const reportCost: Operation<ReportCostMutation, ReportCostMutationVariables> = {
  text: 'mutation ReportCost($input:ReportCostRequest!){answer:reportCost(input:$input){ok}}',
};

export const registerEnvironment: Operation<RegisterEnvironmentMutation, RegisterEnvironmentMutationVariables> = {
  text: 'mutation RegisterEnvironment($input:RegisterEnvironmentRequest!){answer:registerEnvironment(input:$input){environmentId}}',
};

export const moveEnvironment: Operation<MoveEnvironmentMutation, MoveEnvironmentMutationVariables> = {
  text: 'mutation MoveEnvironment($input:MoveEnvironmentRequest!){answer:moveEnvironment(input:$input){ok}}',
};

export const openRepository: Operation<OpenRepositoryMutation, OpenRepositoryMutationVariables> = {
  text: 'mutation OpenRepository($input:OpenRepositoryRequest!){answer:openRepository(input:$input){url username password defaultBranch branch pushWaits}}',
};

export const reportBranch: Operation<ReportBranchMutation, ReportBranchMutationVariables> = {
  text: 'mutation ReportBranch($input:ReportBranchRequest!){answer:reportBranch(input:$input){prNumber}}',
};

export const signAttestations: Operation<SignAttestationsMutation, SignAttestationsMutationVariables> = {
  text: 'mutation SignAttestations($input:SignAttestationsRequest!){answer:signAttestations(input:$input){data{sha envelope{payloadType payload signatures{keyid sig}}}}}',
};

export const reportCheckpoint: Operation<ReportCheckpointMutation, ReportCheckpointMutationVariables> = {
  text: 'mutation ReportCheckpoint($input:ReportCheckpointRequest!){answer:reportCheckpoint(input:$input){ok}}',
};

export const reportPreparation: Operation<ReportPreparationMutation, ReportPreparationMutationVariables> = {
  text: 'mutation ReportPreparation($input:ReportPreparationRequest!){answer:reportPreparation(input:$input){ok}}',
};

export const reportConnections: Operation<ReportConnectionsMutation, ReportConnectionsMutationVariables> = {
  text: 'mutation ReportConnections($input:ReportConnectionsRequest!){answer:reportConnections(input:$input){ok}}',
};

export const createArtifactUpload: Operation<CreateArtifactUploadMutation, CreateArtifactUploadMutationVariables> = {
  text: 'mutation CreateArtifactUpload($input:CreateArtifactUploadRequest!){answer:createArtifactUpload(input:$input){contentKey uploadUrl}}',
};

export const registerArtifact: Operation<RegisterArtifactMutation, RegisterArtifactMutationVariables> = {
  text: 'mutation RegisterArtifact($input:RegisterArtifactRequest!){answer:registerArtifact(input:$input){artifactId}}',
};

export const openRecordingPart: Operation<OpenRecordingPartMutation, OpenRecordingPartMutationVariables> = {
  text: 'mutation OpenRecordingPart($input:OpenRecordingPartRequest!){answer:openRecordingPart(input:$input){key keyId}}',
};

export const reportRecordingPart: Operation<ReportRecordingPartMutation, ReportRecordingPartMutationVariables> = {
  text: 'mutation ReportRecordingPart($input:ReportRecordingPartRequest!){answer:reportRecordingPart(input:$input){ok}}',
};

export const reportModelRejected: Operation<ReportModelRejectedMutation, ReportModelRejectedMutationVariables> = {
  text: 'mutation ReportModelRejected($input:ReportModelRejectedRequest!){answer:reportModelRejected(input:$input){ok}}',
};

export const finishSandbox: Operation<FinishSandboxMutation, FinishSandboxMutationVariables> = {
  text: 'mutation FinishSandbox($input:FinishSandboxRequest!){answer:finishSandbox(input:$input){ok}}',
};

export const finishStep: Operation<FinishStepMutation, FinishStepMutationVariables> = {
  text: 'mutation FinishStep($input:FinishStepRequest!){answer:finishStep(input:$input){outcome failure step{...StepParts}}}fragment StepParts on RunStep{stepId traceparent prompt outputSchema resumeSessionId resumePrompt preamble isRecorded replay{url runId stepId call}checkpoint{commitSha url}agent{name role isReadOnly harness model effort userPrompt skillRepos}environment{templateId templateName base image dockerfile setupScript variables{name value}secrets{name value hosts setupOnly}services{name image variables{name value}command healthCheck}setupNetwork{mode hosts}agentNetwork{mode hosts}instanceType cpus memoryMb diskMb processes stepMinutes stepModelCalls stepTokens}}',
};

export const finishRun: Operation<FinishRunMutation, FinishRunMutationVariables> = {
  text: 'mutation FinishRun($input:FinishRunRequest!){answer:finishRun(input:$input){ok}}',
};

export const handBackRun: Operation<HandBackRunMutation, HandBackRunMutationVariables> = {
  text: 'mutation HandBackRun($input:HandBackRunRequest!){answer:handBackRun(input:$input){ok}}',
};

export const runMcpServers: Operation<RunMcpServersQuery, RunMcpServersQueryVariables> = {
  text: 'query RunMcpServers($runId:String!$leaseId:String!){answer:runMcpServers(runId:$runId leaseId:$leaseId){serverName url alwaysAsk}}',
};

export const runModels: Operation<RunModelsQuery, RunModelsQueryVariables> = {
  text: 'query RunModels($runId:String!$leaseId:String!){answer:runModels(runId:$runId leaseId:$leaseId){revision connectors{integrationId name vendor baseUrl apiKey}}}',
};

export const runtimeOrders: Operation<RuntimeOrdersQuery, RuntimeOrdersQueryVariables> = {
  text: 'query RuntimeOrders($runtime:String!){answer:runtimeOrders(runtime:$runtime){isDraining release}}',
};

export const leaveRuntime: Operation<LeaveRuntimeMutation, LeaveRuntimeMutationVariables> = {
  text: 'mutation LeaveRuntime($input:LeaveRuntimeRequest!){answer:leaveRuntime(input:$input){ok}}',
};

export const harnessDemand: Operation<HarnessDemandQuery, HarnessDemandQueryVariables> = {
  text: 'query HarnessDemand{answer:harnessDemand{modelVendors harnesses}}',
};

export const runMcpCommands: Operation<RunMcpCommandsQuery, RunMcpCommandsQueryVariables> = {
  text: 'query RunMcpCommands($runId:String!$leaseId:String!){answer:runMcpCommands(runId:$runId leaseId:$leaseId){serverName packages program args env{name value}credentials{name value}packageIntegrity refusal}}',
};

export const reportMcpTools: Operation<ReportMcpToolsMutation, ReportMcpToolsMutationVariables> = {
  text: 'mutation ReportMcpTools($input:ReportMcpToolsRequest!){answer:reportMcpTools(input:$input){tools refusal}}',
};

export const admitMcpCall: Operation<AdmitMcpCallMutation, AdmitMcpCallMutationVariables> = {
  text: 'mutation AdmitMcpCall($input:AdmitMcpCallRequest!){answer:admitMcpCall(input:$input){needsPerson}}',
};

export const reportMcpCall: Operation<ReportMcpCallMutation, ReportMcpCallMutationVariables> = {
  text: 'mutation ReportMcpCall($input:ReportMcpCallRequest!){answer:reportMcpCall(input:$input){ok}}',
};
