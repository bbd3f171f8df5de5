// GraphQL types of the responses to runtimes.
import { builder } from '#graph/builder.ts';
import {
  boolean,
  booleanOrNull,
  epochMs,
  epochMsOrNull,
  floatOrNull,
  int,
  intOrNull,
  members,
  string,
  stringOrNull,
  typed,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { bytes, lease, text } from '#limits.ts';
import { ModelVendor } from '../../projects/agents/schema-catalog.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { stepText } from '../../work/runs/bounds.ts';
import type { Delivered } from '../../work/runs/messages.ts';
import type { RequestedTerminal } from '../../work/terminals/state.ts';
import type { ClaimedRun } from './claim.ts';
import { desiredOfRun, type HeartbeatAnswer } from './heartbeat.ts';
import type { RunModels } from './models.ts';
import type { RunRepository } from './repository.ts';
import { RunAgentType, RunStepType } from './schema-orders.ts';

export const ClaimedRunType = builder.objectRef<ClaimedRun>('ClaimedRun').implement({
  description: 'A claimed run, with everything needed to work on it.',
  fields: (t) =>
    members(t, {
      runId: string('The id of the run.'),
      leaseId: string('The id of the lease, required in every report on this run.'),
      leaseUntil: epochMs(
        `When the lease expires. Each heartbeat renews it for ${lease.lastsMs / 1_000} seconds; send one every ${lease.heartbeatMs / 1_000} seconds.`,
      ),
      orgId: string('The organization of the run.'),
      projectId: string('The project in whose repository the run works.'),
      missionTitle: stringOrNull('The title when the run began.'),
      prompt: string('The task for the agent. The shell harness runs it as a script.', {
        complexity: weightOf(text.prompt.max),
      }),
      issueId: string('The issue’s id in the project’s tracker.'),
      issueUrl: stringOrNull('The page of the issue; null when its tracker has none.'),
      repoFullName: string('The project’s repository, `<owner>/<repo>`.'),
      autoMerge: boolean(
        'Whether the platform merges the change once a reviewer of the run has approved it; runtimes never merge.',
      ),
      instanceType: typed(InstanceType.type, 'The size of the sandbox.'),
      memoryMb: int('The memory that the instance type has, MiB.'),
      agent: typed(RunAgentType, 'The agent of the step.'),
      step: typed(RunStepType, 'The step to work on; `finishStep` returns the next one.'),
      baseBranch: stringOrNull('The branch that the change is for; null means the default branch of the repository.'),
      branch: string('The branch that the agents of the run commit to.'),
      budgetUsd: floatOrNull(
        'Amount that the run may still cost, US dollars: its budget within the plan of the organization.',
      ),
      stepTimeoutMs: int('Time limit of a step, milliseconds; a longer step is reported as failed.'),
      answerTimeoutMs: int('Time that a step may wait for people in addition to `stepTimeoutMs`, milliseconds.'),
      maxTurns: int('Maximum number of model turns in a step; a step with more turns is reported as failed.'),
    }),
});

const Desired = wordSet(
  'Desired',
  ['run', 'stop'],
  'The required action of a runtime: `run` continues, `stop` ends at once.',
  { run: 'Continue.', stop: 'End the work at once, because it was canceled or killed, or has expired.' },
);
const desiredType = <K extends string>(name: string, id: K, noun: string) =>
  builder.objectRef<Record<K, string> & { desired: 'run' | 'stop' }>(name).implement({
    description: `The required action of a runtime for ${noun}.`,
    fields: (t) => ({
      [id]: t.string({ description: 'The id from the request.', resolve: (answer) => answer[id] }),
      desired: t.field({
        type: Desired.type,
        description: 'The action: `stop` is also sent for an unknown id, and for a run that has ended or is lost.',
        resolve: (answer) => answer.desired,
      }),
    }),
  });
const RunDesired = wordSet('RunDesired', desiredOfRun, 'Action that a runtime must take on a run.', {
  run: 'Continue; after `interrupt`, resume the session.',
  interrupt: 'Interrupt the turn of the agent, and keep its session until `run` or `stop`. Heartbeats continue.',
  stop: 'End the run at once, because it was canceled, has expired, or has reached a limit.',
});
const HeartbeatMessage = builder.objectRef<Omit<Delivered, 'runId'>>('HeartbeatMessage').implement({
  description: 'A message of a person to the agent of a run.',
  fields: (t) =>
    members(t, {
      messageId: string('The id to acknowledge once the agent has read the message.'),
      text: string('The text for the agent.', { complexity: weightOf(stepText.message.max) }),
      author: string('The name of the person who sent it.'),
      questionId: stringOrNull(
        '`toolUseId` of the answered question; null for other messages, and for a question without one.',
      ),
      approved: booleanOrNull('The decision about a tool call; null for other messages.'),
    }),
});
const RequestedTerminalType = builder.objectRef<RequestedTerminal>('RequestedTerminal').implement({
  description: 'A terminal that a person has requested and whose shell has not been started.',
  fields: (t) =>
    members(t, {
      terminalId: string('The id for further requests.'),
      author: string('The name of the person, for the recording.'),
      width: int('Characters of a line.'),
      height: int('Number of lines.'),
    }),
});

const HeartbeatRun = builder.objectRef<HeartbeatAnswer['runs'][number]>('HeartbeatRun').implement({
  description: 'The required action of a runtime for a run.',
  fields: (t) =>
    members(t, {
      runId: string('The id from the request.'),
      desired: typed(
        RunDesired.type,
        'The action: `stop` is also sent for an unknown id, and for a run that has ended or is lost.',
      ),
      messages: typed(
        [HeartbeatMessage],
        'Messages for the agent in order, repeated in each answer until they are acknowledged.',
      ),
      terminals: typed(
        [RequestedTerminalType],
        'Terminals of people whose shells the runtime starts; repeated until `readTerminal` or `reportTerminalEnd`.',
        { complexity: { field: 1, multiplier: 4 } },
      ),
      leaseUntil: epochMsOrNull('When the lease expires; null when the run must stop.'),
      modelRevision: stringOrNull(
        'If the value differs from that of `runModels`, call `runModels` again and stop using credentials that it no longer lists. Null when the run must stop, or ' +
          'has no agent with a model.',
      ),
    }),
});
/** The field `heartbeat` multiplies this complexity by the number of reports in it (`costOfHeartbeat`). */
const perReport = { complexity: { field: 1, multiplier: 1 } };
export const HeartbeatResponse = builder.objectRef<HeartbeatAnswer>('HeartbeatResponse').implement({
  description: 'The required action of a runtime for each run, sandbox and environment of its heartbeat.',
  fields: (t) =>
    members(t, {
      runs: typed([HeartbeatRun], 'An answer for each run, in the order sent.', perReport),
      sandboxes: typed(
        [desiredType('HeartbeatSandbox', 'sandboxId', 'a sandbox')],
        'An answer for each sandbox, in the order sent.',
        perReport,
      ),
      nextHeartbeatMs: int(
        `Time until the next heartbeat, milliseconds: shorter while an agent that accepts messages works, if the service holds few missions.`,
      ),
      environments: typed(
        [desiredType('HeartbeatEnvironment', 'environmentId', 'a preview environment')],
        'An answer for each environment, in the order sent.',
        perReport,
      ),
    }),
});

export const ReportAcknowledgement = builder.objectRef<{ ok: true }>('ReportAcknowledgement').implement({
  description: 'The report was recorded, now or by an earlier request.',
  fields: (t) => members(t, { ok: typed('True', 'Always true.') }),
});
export const Appended = builder.objectRef<{ nextSeq: number }>('Appended').implement({
  description: 'The position at which the log or the list of fragments continues.',
  fields: (t) => members(t, { nextSeq: int('The sequence number of the next entry.') }),
});
const registeredType = <K extends string>(name: string, id: K, noun: string) =>
  builder.objectRef<Record<K, string>>(name).implement({
    description: `The id of ${noun} that was registered, now or by an earlier request.`,
    fields: (t) => ({
      [id]: t.string({ description: 'An id that further reports require.', resolve: (registered) => registered[id] }),
    }),
  });
export const RegisteredSandbox = registeredType('RegisteredSandbox', 'sandboxId', 'a sandbox');
export const RegisteredArtifact = registeredType('RegisteredArtifact', 'artifactId', 'an artifact');
export const RegisteredEnvironment = registeredType('RegisteredEnvironment', 'environmentId', 'a preview environment');
export const ArtifactUpload = builder
  .objectRef<{ contentKey: string; uploadUrl: string; expiresAt: number }>('ArtifactUpload')
  .implement({
    description: 'Upload URL for the bytes of one artifact.',
    fields: (t) =>
      members(t, {
        contentKey: string('The value for `registerArtifact`.'),
        uploadUrl: string('PUT the bytes to this URL; it needs no other credential.'),
        expiresAt: epochMs('When the URL expires.'),
      }),
  });
export const RepositoryFile = builder
  .objectRef<{ path: string; ref: string; content: string }>('RepositoryFile')
  .implement({
    description: 'A text file of a repository.',
    fields: (t) =>
      members(t, {
        path: string('Path from the root of the repository.'),
        ref: string('The branch, tag or commit that the file was read from.'),
        content: string(`The content of the file, at most ${bytes.repositoryFile.toLocaleString('en')} bytes.`, {
          complexity: weightOf(bytes.repositoryFile),
        }),
      }),
  });

const RunModel = builder.objectRef<RunModels['connectors'][number]>('RunModel').implement({
  description: 'A model connector of the organization of a run, with its credentials.',
  fields: (t) =>
    members(t, {
      integrationId: string('The id of the connector; starts with `int_`.'),
      name: string('Name of the connector, for messages to people.'),
      vendor: typed(ModelVendor.type, 'The vendor of the server’s protocol.'),
      baseUrl: string(
        'URL of the server, without a trailing slash; for `openai` with the version. An organization may have chosen it: ' +
          'connect to public addresses only.',
      ),
      apiKey: string('A secret: only for the gateway of the runtime, never for an agent, a log or a file.'),
    }),
});
export const RunModelsType = builder.objectRef<RunModels>('RunModels').implement({
  description: 'The model credentials that the agents of a run use instead of the runtime’s own.',
  fields: (t) =>
    members(t, {
      revision: string('For comparison with `modelRevision` of the answers to heartbeats.'),
      connectors: typed([RunModel], 'At most one connector of each vendor.'),
    }),
});

export const RunRepositoryType = builder.objectRef<RunRepository>('RunRepository').implement({
  description: 'Access of a run’s runtime to its repository, for cloning and for pushing its branch.',
  fields: (t) =>
    members(t, {
      url: string('An https URL, or the absolute path of a folder on the machine of the service.'),
      username: stringOrNull('For HTTP basic authentication; null for a folder.'),
      password: stringOrNull('A secret; null for a folder.'),
      defaultBranch: string('The branch that the work begins from.'),
      branch: string('The branch that the run pushes.'),
      pushWaits: boolean('Whether the commits wait for approval: report them as a bundle, and push nothing.'),
    }),
});
export const ReportedBranch = builder
  .objectRef<{ prNumber: number | null; prUrl: string | null }>('ReportedBranch')
  .implement({
    description: 'The pull request of a branch.',
    fields: (t) =>
      members(t, {
        prNumber: intOrNull('Number of the pull request; null when the host has none.'),
        prUrl: stringOrNull('The pull request’s page; null without a pull request.'),
      }),
  });
