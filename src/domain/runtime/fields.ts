// The requests of runtimes, with the bounds of each field (design decisions, section 9).
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { epochMs, wordSet } from '#graph/scalars.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { report, text } from '#limits.ts';
import { AgentRole, Harness, InstanceType } from '../agents/fields.ts';
import { ArtifactKind } from '../artifacts/schema.ts';
import { FragmentKind, LogPart, PromptScope } from '../sandboxes/fields.ts';

const Ending = wordSet('Ending', ['completed', 'failed'], 'How a run or a sandbox has ended.');
const nextStatuses = ['active', 'destroying', 'destroyed', 'failed'] as const;
const EnvironmentMove = wordSet('EnvironmentMove', nextStatuses, 'The next status of a preview environment.');

const id = boundedText(text.pathId);
const ofRun = {
  runId: id.describe('A run that this runtime holds.'),
  leaseId: id.describe('From the answer of `claimRun`.'),
};
const ofSandbox = {
  sandboxId: id.describe('From the answer of `registerSandbox`.'),
  leaseId: id.describe('The lease of its run.'),
};
const sessionDescription = 'The runtime’s own id of the session.';
const sessionId = boundedText(text.sessionId).describe(sessionDescription);
const role = AgentRole.zod.describe('The role of the agent.');
const ofSession = { ...ofSandbox, role, sessionId };
const key = boundedText(text.runtimeKey).describe('The runtime’s own id: a repeated request with it changes nothing.');
const seq = (most: number) =>
  z
    .int()
    .min(0)
    .max(most - 1)
    .describe('Counts from 0 without a gap; entries that are stored already may be repeated.');
const real = (max: number) => z.number().min(0).max(max);

export const ClaimRunRequest = request(
  'ClaimRunRequest',
  z.object({
    runtime: nameText(text.runtimeName).describe('The name of this runtime, shown to people.'),
    claimId: key.optional().describe('The runtime’s own id of this claim: a repeated claim returns the same run.'),
    harnesses: z
      .array(Harness.zod)
      .min(report.harnesses.min)
      .max(report.harnesses.max)
      .describe('The harnesses that it can execute.'),
  }),
);

const sample = z.object({
  t: epochMs.describe('When it was measured: within the last 28 days.'),
  cpuPct: real(100_000).describe('Percent of one core.'),
  memUsedMb: real(1e9).describe('Megabytes in use.'),
  memTotalMb: real(1e9).describe('Megabytes in all.'),
  diskUsedPct: real(100).describe('Percent of the disk in use.'),
});
export const HeartbeatRequest = request(
  'HeartbeatRequest',
  z.object({
    runs: z
      .array(
        z.object({
          ...ofRun,
          progress: z.int().min(0).max(100).nullish().describe('Percent; absent: unchanged.'),
          activity: boundedText(text.activity).nullish().describe('Current activity; absent: unchanged.'),
        }),
      )
      .max(report.runs)
      .default([])
      .describe(`At most ${report.runs} runs that it works on.`),
    sandboxes: z
      .array(
        z.object({
          ...ofSandbox,
          metrics: z
            .array(sample)
            .max(report.metricsPerSandbox)
            .default([])
            .describe(`At most ${report.metricsPerSandbox} samples; one that is repeated is kept once.`),
        }),
      )
      .max(report.sandboxes)
      .default([])
      .describe(`At most ${report.sandboxes} sandboxes that are running.`),
    environments: z
      .array(id)
      .max(report.environments)
      .default([])
      .describe(`Ids of the preview environments that it serves, at most ${report.environments}.`),
  }),
);

export const ReportCostRequest = request(
  'ReportCostRequest',
  z.object({
    ...ofRun,
    costId: key,
    usd: z.number().min(report.usd.min).max(report.usd.max).describe('US dollars, rounded to a millionth.'),
    sandboxId: id.nullish().describe('The sandbox that caused it.'),
    role: AgentRole.zod.nullish().describe('With `sessionId`: the session that it is added to.'),
    sessionId: sessionId.nullish().describe(sessionDescription),
    incomplete: z.boolean().default(false).describe('Whether costs are known to be missing.'),
  }),
);

export const RegisterSandboxRequest = request(
  'RegisterSandboxRequest',
  z.object({
    ...ofRun,
    key,
    role,
    harness: Harness.zod.describe('The harness that runs in it.'),
    harnessVersion: boundedText(text.harnessVersion).nullish().describe('As the harness reports it.'),
    instanceType: InstanceType.zod.describe('Its size.'),
    timeoutAt: epochMs.nullish().describe('When it is ended at the latest.'),
  }),
);
export const FinishSandboxRequest = request(
  'FinishSandboxRequest',
  z.object({
    ...ofSandbox,
    status: Ending.zod.describe('How it has ended.'),
    terminationReason: boundedText(text.outcome).nullish().describe('Shown to people.'),
  }),
);
export const ReportSessionRequest = request(
  'ReportSessionRequest',
  z.object({
    ...ofSession,
    outcome: boundedText(text.outcome).nullish().describe('How the session has ended; absent while it is open.'),
  }),
);

export const AppendLogRequest = request(
  'AppendLogRequest',
  z
    .object({
      ...ofSession,
      part: LogPart.zod.describe('The log of the session that it belongs to.'),
      seq: seq(report.logPieces),
      content: boundedText(text.logPiece).describe('The text of the piece.'),
      spanId: boundedText(text.spanId)
        .nullish()
        .describe('The span of the prompt: required in the part `prompt`, not allowed in the others.'),
      promptScope: PromptScope.zod
        .nullish()
        .describe('The origin of a span of a prompt; `repo-contributed` when absent.'),
    })
    .superRefine(({ part, spanId, promptScope }, issues) => {
      if (part !== 'prompt' && promptScope != null) {
        issues.addIssue({ code: 'custom', path: ['promptScope'], message: 'belongs to the part prompt alone' });
      }
      if ((part === 'prompt') === (spanId != null)) return;
      const message = part === 'prompt' ? 'is required when part is prompt' : 'belongs to the part prompt alone';
      issues.addIssue({ code: 'custom', path: ['spanId'], message });
    }),
);

const fragmentText = boundedText(text.fragmentBody).nullish();
export const AppendFragmentsRequest = request(
  'AppendFragmentsRequest',
  z.object({
    ...ofSandbox,
    seq: seq(report.fragmentsPerSandbox).describe('Of the first fragment; the others follow without a gap.'),
    fragments: z
      .array(
        z.object({
          kind: FragmentKind.zod.describe('What the agent does; it decides which of the other fields are present.'),
          t: epochMs.describe('When it happened.'),
          body: fragmentText.describe('The text of a thought, an answer, a question, an error or a prompt.'),
          action: boundedText(text.fragmentWord).nullish().describe('Of an action: the name of the tool.'),
          parameter: fragmentText.describe('Of an action: the input of the tool.'),
          result: fragmentText.describe('Of an action: the output of the tool.'),
          toolUseId: boundedText(text.fragmentWord).nullish().describe('Of an action: the model’s id of this use.'),
          items: z
            .array(
              z.object({
                content: boundedText(text.activity).describe('The step in words.'),
                status: boundedText(text.fragmentWord).describe('How far the step is.'),
              }),
            )
            .max(report.planItems)
            .default([])
            .describe('The steps of a plan.'),
        }),
      )
      .min(1)
      .max(report.fragments)
      .describe(`1 to ${report.fragments}.`),
  }),
);

export const CreateArtifactUploadRequest = request('CreateArtifactUploadRequest', z.object(ofRun));
export const RegisterArtifactRequest = request(
  'RegisterArtifactRequest',
  z.object({
    ...ofRun,
    contentKey: id.describe('From the answer of `createArtifactUpload`, after the upload.'),
    role,
    kind: ArtifactKind.zod.describe('What it shows.'),
    contentType: boundedText(text.contentType)
      .regex(/^[\w.+-]+\/[\w.+-]+( *;.*)?$/, 'must be a media type such as image/png')
      .describe('The media type of the bytes, such as image/png.'),
    sandboxId: id.nullish().describe('The sandbox that it was created in.'),
    sessionId: sessionId.nullish().describe(sessionDescription),
    caption: boundedText(text.caption).nullish().describe('A title to show.'),
    criterion: boundedText(text.caption).nullish().describe('The acceptance criterion that it is evidence for.'),
    criterionPassed: z.boolean().nullish().describe('Whether that criterion is met.'),
    traceViewerUrl: boundedText(text.redirectUri)
      .regex(/^https?:\/\/\S+$/, 'must be an http or https address')
      .nullish()
      .describe('A page that shows a trace, where the artifact is one.'),
  }),
);

export const RegisterEnvironmentRequest = request(
  'RegisterEnvironmentRequest',
  z.object({
    ...ofRun,
    key,
    prNumber: z.int().min(1).max(2_147_483_647).nullish().describe('The pull request of the change.'),
    workerName: boundedText(text.runtimeKey).nullish().describe('Its name where it runs.'),
    expiresAt: epochMs.nullish().describe('When it is to be taken down; absent: when a person or the runtime ends it.'),
  }),
);
export const MoveEnvironmentRequest = request(
  'MoveEnvironmentRequest',
  z.object({
    environmentId: id.describe('From the answer of `registerEnvironment`.'),
    status: EnvironmentMove.zod.describe('A status that may follow the present one.'),
  }),
);

export const FinishRunRequest = request(
  'FinishRunRequest',
  z.object({
    ...ofRun,
    status: Ending.zod.describe('Whether the mission was completed.'),
    error: boundedText(text.runError).nullish().describe('What went wrong; shown to people.'),
    costIncomplete: z.boolean().default(false).describe('Whether costs are known to be missing from the sum.'),
  }),
);
export const HandBackRunRequest = request(
  'HandBackRunRequest',
  z.object({
    ...ofRun,
    reason: boundedText({ min: 1, max: 400 }).describe('Why it cannot continue: 1 to 400 characters.'),
  }),
);
