// The GraphQL interface for runtimes (docs/decisions/0031-runtimes-report-over-graphql.md), with the scope `runtime:report`.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { reportCheckpoint } from './checkpoints.ts';
import { claimRun } from './claim.ts';
import * as endings from './endings.ts';
import { finishStep } from './finish-step.ts';
import { heartbeat } from './heartbeat.ts';
import { modelsOfRun, reportModelRejected } from './models.ts';
import * as proof from './proof.ts';
import * as reports from './reports.ts';
import * as repository from './repository.ts';
import {
  Appended,
  ArtifactUpload,
  ClaimedRunType,
  HeartbeatResponse,
  RegisteredArtifact,
  RegisteredEnvironment,
  RegisteredSandbox,
  ReportAcknowledgement,
  ReportedBranch,
  RepositoryFile,
  RunModelsType,
  RunRepositoryType,
} from './schema-answers.ts';
import { OpenRepositoryRequest, ReportBranchRequest } from './schema-branches.ts';
import { ClaimRunRequest } from './schema-claim.ts';
import { FinishedStep } from './schema-orders.ts';
import * as requests from './schema-runs.ts';
import * as sandboxRequests from './schema-sandboxes.ts';
import * as stepRequests from './schema-steps.ts';

const scope = 'runtime:report';

const acknowledge = async (work: Promise<void>): Promise<{ ok: true }> => {
  await work;
  return { ok: true };
};

builder.queryField('runModels', (t) =>
  t.field({
    description:
      'The model connectors for the agents of a run, with their credentials, for the runtime with the lease on the run. A vendor that is ' +
      'absent has no connector: the runtime uses its own credentials, if it has any.',
    scope,
    type: RunModelsType,
    args: { runId: t.arg.string(pathId), leaseId: t.arg.string(pathId) },
    resolve: (_, held, { caller }) => modelsOfRun(caller, held),
  }),
);

builder.mutationFields((t) => ({
  claimRun: t.field({
    description:
      'Claims the run that has waited longest for a runtime with one of these harnesses; null when none waits. A runtime of all organizations first serves the organization with the fewest running runs.',
    scope,
    type: ClaimedRunType,
    nullable: true,
    args: { input: t.arg({ type: ClaimRunRequest, required: true, description: 'The offer of the runtime.' }) },
    resolve: (_, { input }, { caller }) => claimRun(caller, input),
  }),
  heartbeat: t.field({
    description:
      'Renews the leases of a runtime and reports its runs and sandboxes; the response names those that must stop.',
    scope,
    urgent: true,
    type: HeartbeatResponse,
    args: {
      input: t.arg({ type: requests.HeartbeatRequest, required: true, description: 'The state of the runtime.' }),
    },
    complexity: ({ input }) => requests.costOfHeartbeat(input),
    resolve: (_, { input }, { caller }) => heartbeat(caller, input),
  }),
  reportCost: t.field({
    description: 'Adds a cost to a run, to its session and to the day of its organization, which may have a cap.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.ReportCostRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(reports.reportCost(caller, input)),
  }),
  reportUsage: t.field({
    description:
      'Adds the tokens that a step has used, and their cost at list prices, like `reportCost`. A model that the catalog has no ' +
      'price for marks the cost of the run as incomplete.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: stepRequests.ReportUsageRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(reports.reportUsage(caller, input)),
  }),
  reportModelRejected: t.field({
    description:
      'Reports that the vendor rejects the credentials of a model connector (401). The platform checks with the vendor, and ' +
      'notifies people if they are indeed rejected.',
    scope,
    type: ReportAcknowledgement,
    args: {
      input: t.arg({ type: stepRequests.ReportModelRejectedRequest, required: true, description: 'The report.' }),
    },
    resolve: (_, { input }, { caller }) => acknowledge(reportModelRejected(caller, input)),
  }),
  finishStep: t.field({
    description:
      'Reports the end of a step; the answer contains the next action. A repeated report gets the same answer. Output that does not ' +
      'match the schema is requested once more.',
    scope,
    type: FinishedStep,
    args: { input: t.arg({ type: stepRequests.FinishStepRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => finishStep(caller, input),
  }),
  registerSandbox: t.field({
    description: 'Registers a sandbox that was created for a run.',
    scope,
    type: RegisteredSandbox,
    args: {
      input: t.arg({ type: sandboxRequests.RegisterSandboxRequest, required: true, description: 'The report.' }),
    },
    resolve: (_, { input }, { caller }) => reports.registerSandbox(caller, input),
  }),
  finishSandbox: t.field({
    description: 'Reports that a sandbox has ended. A killed one stays destroyed.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: sandboxRequests.FinishSandboxRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(reports.finishSandbox(caller, input)),
  }),
  reportSession: t.field({
    description: 'Opens a session in a sandbox, or records its outcome.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: sandboxRequests.ReportSessionRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(reports.reportSession(caller, input)),
  }),
  appendLog: t.field({
    description: 'Appends a piece to a log of a session.',
    scope,
    type: Appended,
    args: { input: t.arg({ type: sandboxRequests.AppendLogRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => reports.appendLog(caller, input),
  }),
  appendFragments: t.field({
    description: 'Appends thoughts, actions and messages of an agent, for the live view of the sandbox.',
    scope,
    type: Appended,
    args: {
      input: t.arg({ type: sandboxRequests.AppendFragmentsRequest, required: true, description: 'The report.' }),
    },
    resolve: (_, { input }, { caller }) => reports.appendFragments(caller, input),
  }),
  createArtifactUpload: t.field({
    description: 'Creates an upload URL for the bytes of one artifact.',
    scope,
    type: ArtifactUpload,
    args: {
      input: t.arg({
        type: requests.CreateArtifactUploadRequest,
        required: true,
        description: 'The run that the artifact belongs to.',
      }),
    },
    resolve: (_, { input }, { caller }) => proof.createArtifactUpload(caller, input),
  }),
  registerArtifact: t.field({
    description: 'Creates an artifact from uploaded bytes.',
    scope,
    type: RegisteredArtifact,
    args: { input: t.arg({ type: requests.RegisterArtifactRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => proof.registerArtifact(caller, input),
  }),
  registerEnvironment: t.field({
    description: 'Registers a preview environment that is being created for a run.',
    scope,
    type: RegisteredEnvironment,
    args: { input: t.arg({ type: requests.RegisterEnvironmentRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => proof.registerEnvironment(caller, input),
  }),
  moveEnvironment: t.field({
    description: 'Changes the status of a preview environment.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.MoveEnvironmentRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(proof.moveEnvironment(caller, input)),
  }),
  openRepository: t.field({
    description:
      'Access of the runtime to the repository of its run with git. The password is a secret: it never enters a sandbox.',
    scope,
    type: RunRepositoryType,
    args: { input: t.arg({ type: OpenRepositoryRequest, required: true, description: 'The run.' }) },
    resolve: (_, { input }, { caller }) => repository.openRepository(caller, input),
  }),
  reportBranch: t.field({
    description:
      'Records the pushed branch of a run, and opens or updates its pull request if the host supports them. The answer is 409 for an agent with `isReadOnly`.',
    scope,
    type: ReportedBranch,
    args: { input: t.arg({ type: ReportBranchRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => repository.reportBranch(caller, input),
  }),
  reportCheckpoint: t.field({
    description:
      'Stores the workspace of a step that is running or has ended. Another runtime, or a run that continues this one, begins from it. ' +
      'The answer is 409 for an agent with `isReadOnly`.',
    scope,
    type: ReportAcknowledgement,
    args: {
      input: t.arg({ type: stepRequests.ReportCheckpointRequest, required: true, description: 'The report.' }),
    },
    resolve: (_, { input }, { caller }) => acknowledge(reportCheckpoint(caller, input)),
  }),
  finishRun: t.field({
    description: 'Ends a run and its running sandboxes. A canceled run stays canceled.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.FinishRunRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(endings.reportFinished(caller, input)),
  }),
  handBackRun: t.field({
    description: 'Hands a run back, so that another runtime can claim it.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: requests.HandBackRunRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => acknowledge(endings.reportHandedBack(caller, input)),
  }),
}));

builder.queryField('repositoryFile', (t) =>
  t.field({
    description: 'A text file of the repository of a run on which this runtime has a lease; null when there is none.',
    scope,
    type: RepositoryFile,
    nullable: true,
    args: {
      runId: t.arg.string({ ...pathId, description: 'A run on which this runtime has a lease.' }),
      leaseId: t.arg.string({ ...pathId, description: 'The `leaseId` that `claimRun` has returned.' }),
      path: t.arg.string({
        required: true,
        description: 'Path from the root of the repository.',
        validate: { schema: boundedText(text.filePath) },
      }),
      ref: t.arg.string({
        description: 'A branch, tag or commit; the default branch when absent.',
        validate: { schema: boundedText(text.gitRef) },
      }),
    },
    resolve: (_, args, { caller }) => repository.readFileOfRun(caller, args),
  }),
);
