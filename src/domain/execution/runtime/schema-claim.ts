// GraphQL input with which a runtime claims a run.
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { report, text } from '#limits.ts';
import { Harness, ModelVendor } from '../../projects/agents/schema-catalog.ts';
import { templateCounts } from '../../projects/sandbox-templates/bounds.ts';
import { labels } from '../../projects/sandbox-templates/schema-parts.ts';
import { stepText } from '../../work/runs/bounds.ts';
import { id, key } from './schema-runs.ts';

export const ClaimRunRequest = request(
  'ClaimRunRequest',
  z
    .object({
      runtime: nameText(text.runtimeName).describe('The name of this runtime, shown to people.'),
      claimId: key.optional().describe('The runtime’s own id of this claim: a repeated claim returns the same run.'),
      runId: id
        .optional()
        .describe('The only run to claim: the response is null when this runtime cannot claim it. Absent means any.'),
      harnesses: z
        .array(Harness.zod)
        .min(report.harnesses.min)
        .max(report.harnesses.max)
        .describe('The harnesses that the runtime can execute.'),
      versions: z
        .array(
          z
            .object({
              harness: Harness.zod.describe('One of `harnesses`.'),
              version: boundedText(text.harnessVersion).describe('The version that the program reports.'),
            })
            .describe('The version of a harness.'),
        )
        .max(report.harnesses.max)
        .optional()
        .describe('The versions of the harnesses, shown to people.'),
      labels: labels
        .optional()
        .describe(
          `The labels of the runtime, which sandbox templates ask for: at most ${templateCounts.labels}. Absent means none.`,
        ),
      isolation: boundedText(stepText.isolation)
        .nullish()
        .describe('How missions are isolated from each other, such as `cell`, `container` or `none`; shown to people.'),
      modelVendors: z
        .array(ModelVendor.zod)
        .max(10)
        .nullish()
        .describe(
          'The vendors whose models the runtime has credentials for; absent means all that its harnesses need.',
        ),
      replays: z
        .boolean()
        .nullish()
        .describe(
          'Whether the runtime answers the calls of a step with `replay` from a recording. Absent means no: it then gets no forks of missions.',
        ),
      notice: boundedText(stepText.notice)
        .nullish()
        .describe('Why a harness is not offered yet, for example because it is being installed; shown to people.'),
      cpus: z
        .number()
        .positive()
        .max(10_000)
        .nullish()
        .describe('Number of CPUs that a mission can have; absent when unknown.'),
      memoryMb: z.int().min(0).max(1e9).nullish().describe('Memory that a mission can have, MiB; absent when unknown.'),
      diskMb: z
        .int()
        .min(0)
        .max(1e9)
        .nullish()
        .describe('Disk space that a mission can have, MiB; absent when unknown.'),
      places: z.int().min(0).max(1_000).nullish().describe('Maximum number of concurrent missions.'),
    })
    .describe('The offer of a runtime in its request for a run.'),
);
