// The requests of runtimes about runs, their artifacts and environments, with the limits of each field
// (docs/decisions/0031-runtimes-report-over-graphql.md).
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { epochMsInput, wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { report, text } from '#limits.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import { ArtifactKind } from '../../work/artifacts/schema.ts';
import { messagesAtOnce } from '../../work/runs/bounds.ts';

export const Ending = wordSet('Ending', ['completed', 'failed'], 'Outcome of a run or a sandbox.', {
  completed: 'The agent finished its work.',
  failed: 'The run or sandbox ended before the work was finished.',
});
const nextStatuses = ['active', 'destroying', 'destroyed', 'failed'] as const;
const EnvironmentMove = wordSet('EnvironmentMove', nextStatuses, 'The next status of a preview environment.', {
  active: 'The environment can be reached at its URL.',
  destroying: 'The runtime has started to take the environment down.',
  destroyed: 'The environment has been taken down.',
  failed: 'The environment could not be started, or could not be taken down.',
});

export const id = boundedText(text.pathId);
export const ofRun = {
  runId: id.describe('A run on which this runtime has a lease.'),
  leaseId: id.describe('The `leaseId` that `claimRun` has returned.'),
};
export const ofSandbox = {
  sandboxId: id.describe('The `sandboxId` that `registerSandbox` has returned.'),
  leaseId: id.describe('The lease of the run that the sandbox belongs to.'),
};
export const sessionDescription = 'The runtime’s own id of the session.';
export const sessionId = boundedText(text.sessionId).describe(sessionDescription);
export const role = AgentRole.zod.describe('The role of the agent.');
export const key = boundedText(text.runtimeKey).describe(
  'The runtime’s own id: a repeated request with the same id changes nothing.',
);
export const commitSha = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'must be the id of a commit: 40 or 64 hexadecimal digits')
  .describe('The commit of all files of the workspace.');
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest: 64 hexadecimal digits');
const real = (max: number) => z.number().min(0).max(max);

const sample = z
  .object({
    t: epochMsInput.describe('When the sample was measured: within the last 28 days.'),
    cpuPct: real(100_000).describe('CPU use in percent of all cores, 0 to 100.'),
    memUsedMb: real(1e9).describe('Memory in use, megabytes.'),
    memTotalMb: real(1e9).describe('All memory, megabytes.'),
    diskUsedPct: real(100).describe('Disk use in percent of the space that the mission may take.'),
  })
  .describe('One measurement of a sandbox.');
export const HeartbeatRequest = request(
  'HeartbeatRequest',
  z
    .object({
      runs: z
        .array(
          z
            .object({
              ...ofRun,
              acknowledged: z
                .array(id)
                .max(messagesAtOnce * 10)
                .optional()
                .describe('Ids of messages that the agent of the run has read; they are not delivered again.'),
              progress: z
                .int()
                .min(0)
                .max(100)
                .nullish()
                .describe('Progress in percent; an absent or lower value changes nothing.'),
              activity: boundedText(text.activity).nullish().describe('Current activity; absent means unchanged.'),
            })
            .describe('A run that the runtime works on.'),
        )
        .max(report.runs)
        .default([])
        .describe(`At most ${report.runs} runs that the runtime works on.`),
      sandboxes: z
        .array(
          z
            .object({
              ...ofSandbox,
              metrics: z
                .array(sample)
                .max(report.metricsPerSandbox)
                .default([])
                .describe(`At most ${report.metricsPerSandbox} samples; a repeated sample is stored once.`),
            })
            .describe('A sandbox that is running.'),
        )
        .max(report.sandboxes)
        .default([])
        .describe(`At most ${report.sandboxes} sandboxes that are running.`),
      environments: z
        .array(id)
        .max(report.environments)
        .default([])
        .describe(`Ids of the preview environments that the runtime serves, at most ${report.environments}.`),
    })
    .describe('Everything that a runtime works on. Omitted runs get no heartbeat.'),
);

type Reported = Partial<Record<'runs' | 'sandboxes' | 'environments', readonly unknown[] | null>>;

/**
 * The complexity of a heartbeat is the length of its longest list, which has not been validated yet. A constant would be too high for most
 * requests of runtimes, which are short heartbeats.
 */
export function costOfHeartbeat({ runs, sandboxes, environments }: Reported): { field: number; multiplier: number } {
  const longest = Math.max(1, ...[runs, sandboxes, environments].map((list) => list?.length ?? 0));
  return { field: 1, multiplier: Math.min(longest, report.environments) };
}

export const ReportCostRequest = request(
  'ReportCostRequest',
  z
    .object({
      ...ofRun,
      costId: key,
      usd: z
        .number()
        .min(report.usd.min)
        .max(report.usd.max)
        .describe('The cost in US dollars, rounded to a millionth.'),
      sandboxId: id.nullish().describe('The sandbox that caused the cost.'),
      role: AgentRole.zod
        .nullish()
        .describe('The role of the session that the cost is added to; sent with `sessionId`.'),
      sessionId: sessionId.nullish().describe(sessionDescription),
      incomplete: z.boolean().default(false).describe('Whether costs are known to be missing.'),
    })
    .describe('A cost that a run has caused.'),
);

export const CreateArtifactUploadRequest = request(
  'CreateArtifactUploadRequest',
  z.object(ofRun).describe('The run whose artifact is to be uploaded.'),
);
export const RegisterArtifactRequest = request(
  'RegisterArtifactRequest',
  z
    .object({
      ...ofRun,
      contentKey: id.describe(
        'The `contentKey` that `createArtifactUpload` has returned, once the upload is complete.',
      ),
      role,
      kind: ArtifactKind.zod.describe('The kind of the content.'),
      contentType: boundedText(text.contentType)
        .regex(/^[\w.+-]+\/[\w.+-]+( *;.*)?$/, 'must be a media type such as image/png')
        .describe('The media type of the bytes, such as image/png.'),
      sandboxId: id.nullish().describe('The sandbox that the artifact was created in.'),
      sessionId: sessionId.nullish().describe(sessionDescription),
      caption: boundedText(text.caption).nullish().describe('A title to show.'),
      criterion: boundedText(text.caption)
        .nullish()
        .describe('The acceptance criterion that the artifact is evidence for.'),
      criterionPassed: z.boolean().nullish().describe('Whether the acceptance criterion is met.'),
      traceViewerUrl: boundedText(text.redirectUri)
        .regex(/^https?:\/\/\S+$/, 'must be an http or https URL')
        .nullish()
        .describe('A page that shows the trace, if the artifact is one.'),
    })
    .describe('An artifact whose content has been uploaded.'),
);

export const RegisterEnvironmentRequest = request(
  'RegisterEnvironmentRequest',
  z
    .object({
      ...ofRun,
      key,
      prNumber: z.int().min(1).max(2_147_483_647).nullish().describe('The pull request of the change.'),
      workerName: boundedText(text.runtimeKey).nullish().describe('The name of the deployment at its platform.'),
      expiresAt: epochMsInput
        .nullish()
        .describe('When the environment is to be taken down; if absent, a person or the runtime ends it.'),
    })
    .describe('A preview environment that the runtime is starting.'),
);
export const MoveEnvironmentRequest = request(
  'MoveEnvironmentRequest',
  z
    .object({
      environmentId: id.describe('The `environmentId` that `registerEnvironment` has returned.'),
      status: EnvironmentMove.zod.describe('A status that may follow the current one.'),
    })
    .describe('The next status of a preview environment.'),
);

export const FinishRunRequest = request(
  'FinishRunRequest',
  z
    .object({
      ...ofRun,
      status: Ending.zod.describe('Whether the mission was completed.'),
      error: boundedText(text.runError).nullish().describe('The error, shown to people.'),
      costIncomplete: z.boolean().default(false).describe('Whether costs are known to be missing from the sum.'),
    })
    .describe('The end of a run.'),
);
export const HandBackRunRequest = request(
  'HandBackRunRequest',
  z
    .object({
      ...ofRun,
      reason: boundedText({ min: 1, max: 400 }).describe(
        'Reason why the runtime cannot continue the run: 1 to 400 characters.',
      ),
    })
    .describe('A run that the runtime cannot continue; another runtime may claim it.'),
);
