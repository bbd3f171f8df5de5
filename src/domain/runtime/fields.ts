// What a runtime may say, field by field, with its bounds (design decisions, section 9).
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { epochMs, wordSet } from '#graph/scalars.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { report, text } from '#limits.ts';
import { AgentRole, Harness, InstanceType } from '../agents/fields.ts';
import { ArtifactKind } from '../artifacts/schema.ts';
import { FragmentKind, LogPart, PromptScope } from '../sandboxes/fields.ts';

const Ending = wordSet('Ending', ['completed', 'failed'], 'How something came to its end.');
const EnvironmentMove = wordSet(
  'EnvironmentMove',
  ['active', 'destroying', 'destroyed', 'failed'],
  'Where a preview environment goes from where it is.',
);

const id = boundedText(text.pathId);
const ofRun = { runId: id, leaseId: id.describe('What `claimRun` gave.') };
const ofSandbox = { sandboxId: id, leaseId: id.describe('That of the run.') };
const ofSession = { ...ofSandbox, role: AgentRole.zod, sessionId: boundedText(text.sessionId) };
const key = boundedText(text.runtimeKey).describe('The runtime’s own word for it: said again, it makes nothing new.');
const seq = (most: number) =>
  z
    .int()
    .min(0)
    .max(most - 1)
    .describe('From 0 and without a gap; what is there already may come again.');
const real = (max: number) => z.number().min(0).max(max);

export const ClaimRunRequest = request(
  'ClaimRunRequest',
  z.object({
    runtime: nameText(text.runtimeName).describe('What this runtime is called, for people who wonder who has a run.'),
    claimId: key
      .optional()
      .describe('The runtime’s own name for this claim: repeated, it returns the run that it took.'),
    harnesses: z
      .array(Harness.zod)
      .min(report.harnesses.min)
      .max(report.harnesses.max)
      .describe('Those it can execute.'),
  }),
);

const sample = z.object({
  t: epochMs,
  cpuPct: real(100_000),
  memUsedMb: real(1e9),
  memTotalMb: real(1e9),
  diskUsedPct: real(100),
});
export const HeartbeatRequest = request(
  'HeartbeatRequest',
  z.object({
    runs: z
      .array(
        z.object({
          ...ofRun,
          progress: z.int().min(0).max(100).nullish().describe('Percent.'),
          activity: boundedText(text.activity).nullish().describe('What it is at, in a few words.'),
        }),
      )
      .max(report.runs)
      .default([]),
    sandboxes: z
      .array(z.object({ ...ofSandbox, metrics: z.array(sample).max(report.metricsPerSandbox).default([]) }))
      .max(report.sandboxes)
      .default([]),
    environments: z.array(id).max(report.environments).default([]).describe('Ids of those that the runtime keeps.'),
  }),
);

export const ReportCostRequest = request(
  'ReportCostRequest',
  z.object({
    ...ofRun,
    costId: key,
    usd: z.number().min(report.usd.min).max(report.usd.max).describe('US dollars, kept to a millionth.'),
    sandboxId: id.nullish(),
    role: AgentRole.zod.nullish().describe('With `sessionId`: whose session it counts for.'),
    sessionId: boundedText(text.sessionId).nullish(),
    incomplete: z.boolean().default(false).describe('Whether costs are known to be missing.'),
  }),
);

export const RegisterSandboxRequest = request(
  'RegisterSandboxRequest',
  z.object({
    ...ofRun,
    key,
    role: AgentRole.zod,
    harness: Harness.zod,
    harnessVersion: boundedText(text.harnessVersion).nullish(),
    instanceType: InstanceType.zod,
    timeoutAt: epochMs.nullish().describe('When it will be ended whatever it does.'),
  }),
);
export const FinishSandboxRequest = request(
  'FinishSandboxRequest',
  z.object({ ...ofSandbox, status: Ending.zod, terminationReason: boundedText(text.outcome).nullish() }),
);
export const ReportSessionRequest = request(
  'ReportSessionRequest',
  z.object({ ...ofSession, outcome: boundedText(text.outcome).nullish().describe('Given when it has ended.') }),
);

export const AppendLogRequest = request(
  'AppendLogRequest',
  z
    .object({
      ...ofSession,
      part: LogPart.zod,
      seq: seq(report.logPieces),
      content: boundedText(text.logPiece),
      spanId: boundedText(text.spanId).nullish().describe('Required in the part `prompt`, and only there.'),
      promptScope: PromptScope.zod
        .nullish()
        .describe('Of a span of a prompt: whose words it holds; `repo-contributed` when left out.'),
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

const words = boundedText(text.fragmentBody).nullish();
export const AppendFragmentsRequest = request(
  'AppendFragmentsRequest',
  z.object({
    ...ofSandbox,
    seq: seq(report.fragmentsPerSandbox).describe('That of the first of them.'),
    fragments: z
      .array(
        z.object({
          kind: FragmentKind.zod,
          t: epochMs,
          body: words,
          action: boundedText(text.fragmentWord).nullish().describe('The tool that is used.'),
          parameter: words,
          result: words,
          toolUseId: boundedText(text.fragmentWord).nullish(),
          items: z
            .array(z.object({ content: boundedText(text.activity), status: boundedText(text.fragmentWord) }))
            .max(report.planItems)
            .default([])
            .describe('The steps of a plan.'),
        }),
      )
      .min(1)
      .max(report.fragments),
  }),
);

export const CreateArtifactUploadRequest = request('CreateArtifactUploadRequest', z.object(ofRun));
export const RegisterArtifactRequest = request(
  'RegisterArtifactRequest',
  z.object({
    ...ofRun,
    contentKey: id.describe('What `createArtifactUpload` gave, once its bytes are uploaded.'),
    role: AgentRole.zod,
    kind: ArtifactKind.zod,
    contentType: boundedText(text.contentType).regex(
      /^[\w.+-]+\/[\w.+-]+( *;.*)?$/,
      'must be a media type such as image/png',
    ),
    sandboxId: id.nullish(),
    sessionId: boundedText(text.sessionId).nullish(),
    caption: boundedText(text.caption).nullish(),
    criterion: boundedText(text.caption).nullish().describe('The acceptance criterion that it speaks of.'),
    criterionPassed: z.boolean().nullish(),
    traceViewerUrl: boundedText(text.redirectUri)
      .regex(/^https?:\/\/\S+$/, 'must be an http or https address')
      .nullish(),
  }),
);

export const RegisterEnvironmentRequest = request(
  'RegisterEnvironmentRequest',
  z.object({
    ...ofRun,
    key,
    prNumber: z.int().min(1).max(2_147_483_647).nullish(),
    workerName: boundedText(text.runtimeKey).nullish(),
    expiresAt: epochMs.nullish(),
  }),
);
export const MoveEnvironmentRequest = request(
  'MoveEnvironmentRequest',
  z.object({ environmentId: id, status: EnvironmentMove.zod }),
);

export const FinishRunRequest = request(
  'FinishRunRequest',
  z.object({
    ...ofRun,
    status: Ending.zod,
    error: boundedText(text.runError).nullish().describe('What went wrong.'),
    costIncomplete: z.boolean().default(false),
  }),
);
export const HandBackRunRequest = request(
  'HandBackRunRequest',
  z.object({ ...ofRun, reason: boundedText({ min: 1, max: 400 }) }),
);
