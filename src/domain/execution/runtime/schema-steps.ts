// The bodies of the requests in which a runtime reports tokens that a step has used, the checkpoint of a step, the end of a step, or a model
// connector that the vendor rejects. Each field has its limits.
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { AgentRole, ModelVendor } from '../../projects/agents/schema-catalog.ts';
import { stepText } from '../../work/runs/bounds.ts';
import { commitSha, Ending, id, key, ofRun, sessionDescription, sessionId, sha256 } from './schema-runs.ts';

const stepId = id.describe('A step of the run.');
const tokens = z.int().min(0).max(1e9);
export const ReportUsageRequest = request(
  'ReportUsageRequest',
  z
    .object({
      ...ofRun,
      usageId: key,
      stepId,
      sandboxId: id.nullish().describe('The sandbox that caused the cost.'),
      role: AgentRole.zod
        .nullish()
        .describe('The role of the session that the cost is added to; sent with `sessionId`.'),
      sessionId: sessionId.nullish().describe(sessionDescription),
      model: boundedText(text.modelId).describe(
        'The id of the model that answered, at its vendor; a date at its end is ignored.',
      ),
      inputTokens: tokens.describe('Input tokens, without those that were read from or written to a cache.'),
      cachedInputTokens: tokens.default(0).describe('Input tokens read from the vendor’s cache.'),
      cacheWriteTokens: tokens.default(0).describe('Input tokens written to the vendor’s cache.'),
      outputTokens: tokens.describe('Output tokens, including those of reasoning.'),
      answer: z
        .object({
          vendor: ModelVendor.zod.describe('The vendor that was asked.'),
          status: z.int().min(0).max(599).describe('The HTTP status; 0 means that there was no answer.'),
          requestSha256: sha256.nullish().describe('SHA-256 of the body that was sent to the vendor, hexadecimal.'),
          responseSha256: sha256.nullish().describe('SHA-256 of the body of the answer, as far as it was received.'),
        })
        .describe('The answer of the vendor to a model call.')
        .nullish()
        .describe('The answer of the vendor to a model call, for attestations and the metrics of the service.'),
      callId: key.nullish().describe('The `callId` of the reserved call that this usage ends.'),
    })
    .describe('Tokens that a step has used. The platform computes their cost from the list prices of the catalog.'),
);
export const ReportCheckpointRequest = request(
  'ReportCheckpointRequest',
  z
    .object({
      ...ofRun,
      stepId,
      contentKey: id.describe(
        'The `contentKey` that `createArtifactUpload` has returned, once a git bundle is uploaded.',
      ),
      commitSha,
      sessionId: sessionId.nullish().describe('The harness’ own id of the session that works on the step.'),
    })
    .describe('The workspace during or after a step. It replaces the checkpoint of that step.'),
);
export const ReportModelRejectedRequest = request(
  'ReportModelRejectedRequest',
  z
    .object({ ...ofRun, integrationId: id.describe('A model connector, from the answer of `runModels`.') })
    .describe('A model connector whose credentials the vendor rejects.'),
);
export const FinishStepRequest = request(
  'FinishStepRequest',
  z
    .object({
      ...ofRun,
      stepId,
      status: Ending.zod.describe('Whether the agent finished its turn.'),
      output: boundedText(stepText.output)
        .nullish()
        .describe('The structured output as JSON, for a step with a schema.'),
      error: boundedText(text.runError).nullish().describe('The error, shown to people.'),
      sessionId: sessionId.nullish().describe('The harness’ own id of the session: a later step may continue it.'),
      turns: z.int().min(0).max(1e6).nullish().describe('Number of model turns.'),
    })
    .describe('The end of a step. Push its commits first: another runtime may work on the next step.'),
);
