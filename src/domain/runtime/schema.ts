// The runtime's side, in the graph alone (design decisions, section 9): what internal services with the scope `runtime:report`
// may ask and report. src/runner is written against it.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { bytes, lease, text } from '#limits.ts';
import { AgentRole, Effort, Harness, InstanceType } from '../agents/fields.ts';
import { type ClaimedRun, claimRun, type RunAgent } from './claim.ts';
import * as endings from './endings.ts';
import * as requests from './fields.ts';
import { type HeartbeatAnswer, heartbeat } from './heartbeat.ts';
import * as proof from './proof.ts';
import * as reports from './reports.ts';
import { readFileOfRun } from './repository-file.ts';

const scope = 'runtime:report';

const RunAgentType = builder.objectRef<RunAgent>('RunAgent').implement({
  description: 'Who works on a run: an agent as it was when the run was taken.',
  fields: (t) => ({
    agentId: t.exposeString('agentId', { nullable: true, description: 'Null: it is built in.' }),
    name: t.exposeString('name'),
    role: t.expose('role', { type: AgentRole.type }),
    harness: t.expose('harness', { type: Harness.type }),
    model: t.exposeString('model'),
    effort: t.expose('effort', { type: Effort.type, nullable: true }),
    userPrompt: t.exposeString('userPrompt', {
      nullable: true,
      complexity: weightOf(text.userPrompt.max),
      description: 'What it is told beside the prompt.',
    }),
    skillRepos: t.exposeStringList('skillRepos'),
    sandboxTemplateId: t.exposeString('sandboxTemplateId'),
  }),
});

const ClaimedRunType = builder.objectRef<ClaimedRun>('ClaimedRun').implement({
  description: 'A run that this runtime now holds, and all it needs to begin.',
  fields: (t) => ({
    runId: t.exposeString('runId'),
    leaseId: t.exposeString('leaseId', { description: 'Every report carries it.' }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'EpochMs',
      description: `Each heartbeat makes it ${lease.lasts / 1_000} seconds from then; one every ${lease.heartbeat / 1_000} seconds is right.`,
    }),
    orgId: t.exposeString('orgId'),
    projectId: t.exposeString('projectId'),
    missionTitle: t.exposeString('missionTitle', { nullable: true }),
    prompt: t.exposeString('prompt', {
      complexity: weightOf(text.prompt.max),
      description: 'What the agent is told. The shell harness runs it as a script.',
    }),
    issueId: t.exposeString('issueId'),
    issueUrl: t.exposeString('issueUrl', { nullable: true }),
    repoFullName: t.exposeString('repoFullName', { description: '`<owner>/<repo>`.' }),
    autoMerge: t.exposeBoolean('autoMerge', { description: 'Whether the runtime merges an approved change.' }),
    instanceType: t.expose('instanceType', { type: InstanceType.type }),
    agent: t.expose('agent', { type: RunAgentType }),
  }),
});

const Desired = wordSet('Desired', ['run', 'stop'], 'What a runtime is to do: go on, or stop at once.');
const desired = <K extends string>(name: string, id: K) =>
  builder.objectRef<Record<K, string> & { desired: 'run' | 'stop' }>(name).implement({
    fields: (t) => ({
      [id]: t.string({ resolve: (one) => one[id] }),
      desired: t.field({ type: Desired.type, resolve: (one) => one.desired }),
    }),
  });
const HeartbeatRun = builder.objectRef<HeartbeatAnswer['runs'][number]>('HeartbeatRun').implement({
  fields: (t) => ({
    runId: t.exposeString('runId'),
    desired: t.expose('desired', { type: Desired.type }),
    leaseUntil: t.expose('leaseUntil', { type: 'EpochMs', nullable: true }),
  }),
});
const HeartbeatResponse = builder.objectRef<HeartbeatAnswer>('HeartbeatResponse').implement({
  description: 'In the order of the request. What is unknown, ended or lost is to stop.',
  fields: (t) => ({
    runs: t.expose('runs', { type: [HeartbeatRun] }),
    sandboxes: t.expose('sandboxes', { type: [desired('HeartbeatSandbox', 'sandboxId')] }),
    environments: t.expose('environments', { type: [desired('HeartbeatEnvironment', 'environmentId')] }),
  }),
});

const ReportAcknowledgement = builder.objectRef<{ ok: true }>('ReportAcknowledgement').implement({
  fields: (t) => ({ ok: t.expose('ok', { type: 'True' }) }),
});
const Appended = builder.objectRef<{ nextSeq: number }>('Appended').implement({
  fields: (t) => ({ nextSeq: t.exposeInt('nextSeq', { description: 'What comes next.' }) }),
});
/** What something is called from now on. */
const registered = <K extends string>(name: string, id: K) =>
  builder.objectRef<Record<K, string>>(name).implement({
    fields: (t) => ({ [id]: t.string({ resolve: (made) => made[id] }) }),
  });
const RegisteredSandbox = registered('RegisteredSandbox', 'sandboxId');
const RegisteredArtifact = registered('RegisteredArtifact', 'artifactId');
const RegisteredEnvironment = registered('RegisteredEnvironment', 'environmentId');
const ArtifactUpload = builder
  .objectRef<{ contentKey: string; uploadUrl: string; expiresAt: number }>('ArtifactUpload')
  .implement({
    fields: (t) => ({
      contentKey: t.exposeString('contentKey'),
      uploadUrl: t.exposeString('uploadUrl', {
        description: 'PUT the bytes there; the address is its own credential.',
      }),
      expiresAt: t.expose('expiresAt', { type: 'EpochMs' }),
    }),
  });
const RepositoryFile = builder.objectRef<{ path: string; ref: string; content: string }>('RepositoryFile').implement({
  fields: (t) => ({
    path: t.exposeString('path'),
    ref: t.exposeString('ref'),
    content: t.exposeString('content', { complexity: weightOf(bytes.repositoryFile) }),
  }),
});

const ok = async (work: Promise<void>): Promise<{ ok: true }> => {
  await work;
  return { ok: true };
};

builder.mutationFields((t) => ({
  claimRun: t.field({
    description:
      'Takes the run that has waited longest for a runtime with one of these harnesses; null when none waits.',
    scope,
    type: ClaimedRunType,
    nullable: true,
    args: { input: t.arg({ type: requests.ClaimRunRequest, required: true }) },
    resolve: (_, { input }, { caller }) => claimRun(caller, input),
  }),
  heartbeat: t.field({
    description: 'Says that a runtime is alive and how its runs and sandboxes are; answers what it must stop.',
    scope,
    type: HeartbeatResponse,
    args: { input: t.arg({ type: requests.HeartbeatRequest, required: true }) },
    resolve: (_, { input }, { caller }) => heartbeat(caller, input),
  }),
  reportCost: t.field({
    description: 'Counts a cost for a run, and against the daily cap of its organization.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.ReportCostRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(reports.reportCost(caller, input)),
  }),
  registerSandbox: t.field({
    description: 'Says that a sandbox of a run is there.',
    scope,
    type: RegisteredSandbox,
    args: { input: t.arg({ type: requests.RegisterSandboxRequest, required: true }) },
    resolve: (_, { input }, { caller }) => reports.registerSandbox(caller, input),
  }),
  finishSandbox: t.field({
    description: 'Says that a sandbox has ended by itself. One that was killed stays destroyed.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.FinishSandboxRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(reports.finishSandbox(caller, input)),
  }),
  reportSession: t.field({
    description: 'Opens a session in a sandbox, or says how it has ended.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.ReportSessionRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(reports.reportSession(caller, input)),
  }),
  appendLog: t.field({
    description: 'Appends a piece of a log.',
    scope,
    type: Appended,
    args: { input: t.arg({ type: requests.AppendLogRequest, required: true }) },
    resolve: (_, { input }, { caller }) => reports.appendLog(caller, input),
  }),
  appendFragments: t.field({
    description: 'Appends what an agent thinks, does and says, for people who watch.',
    scope,
    type: Appended,
    args: { input: t.arg({ type: requests.AppendFragmentsRequest, required: true }) },
    resolve: (_, { input }, { caller }) => reports.appendFragments(caller, input),
  }),
  createArtifactUpload: t.field({
    description: 'An address for the bytes of one artifact.',
    scope,
    type: ArtifactUpload,
    args: { input: t.arg({ type: requests.CreateArtifactUploadRequest, required: true }) },
    resolve: (_, { input }, { caller }) => proof.createArtifactUpload(caller, input),
  }),
  registerArtifact: t.field({
    description: 'Makes an artifact of uploaded bytes.',
    scope,
    type: RegisteredArtifact,
    args: { input: t.arg({ type: requests.RegisterArtifactRequest, required: true }) },
    resolve: (_, { input }, { caller }) => proof.registerArtifact(caller, input),
  }),
  registerEnvironment: t.field({
    description: 'Says that a preview environment of a run is being made.',
    scope,
    type: RegisteredEnvironment,
    args: { input: t.arg({ type: requests.RegisterEnvironmentRequest, required: true }) },
    resolve: (_, { input }, { caller }) => proof.registerEnvironment(caller, input),
  }),
  moveEnvironment: t.field({
    description: 'Says how far a preview environment is.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.MoveEnvironmentRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(proof.moveEnvironment(caller, input)),
  }),
  finishRun: t.field({
    description: 'Ends a run, and its sandboxes with it. One that was canceled stays so.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.FinishRunRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(endings.finishRun(caller, input)),
  }),
  handBackRun: t.field({
    description: 'Hands a run back, for another runtime to take.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.HandBackRunRequest, required: true }) },
    resolve: (_, { input }, { caller }) => ok(endings.handBackRun(caller, input)),
  }),
}));

builder.queryField('repositoryFile', (t) =>
  t.field({
    description: 'A text file of the repository of a run that this runtime holds; null when there is none.',
    scope,
    type: RepositoryFile,
    nullable: true,
    args: {
      runId: t.arg.string(pathId),
      leaseId: t.arg.string(pathId),
      path: t.arg.string({ required: true, validate: { schema: boundedText(text.filePath) } }),
      ref: t.arg.string({
        description: 'The default branch when absent.',
        validate: { schema: boundedText(text.gitRef) },
      }),
    },
    resolve: (_, args, { caller }) => readFileOfRun(caller, args),
  }),
);
