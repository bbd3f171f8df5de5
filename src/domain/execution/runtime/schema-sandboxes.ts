// The requests of runtimes about sandboxes and their content, with the limits of each field
// (docs/decisions/0031-runtimes-report-over-graphql.md).
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { epochMsInput } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { report, text } from '#limits.ts';
import { Harness } from '../../projects/agents/schema-catalog.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { maxChoices } from '../../work/runs/bounds.ts';
import { FragmentKind, LogPart, PromptScope } from '../../work/sandboxes/schema-parts.ts';
import { Ending, key, ofRun, ofSandbox, role, sessionId } from './schema-runs.ts';

const ofSession = { ...ofSandbox, role, sessionId };
const seq = (most: number) =>
  z
    .int()
    .min(0)
    .max(most - 1)
    .describe('The sequence number, which counts from 0 without a gap; stored entries may be repeated.');

export const RegisterSandboxRequest = request(
  'RegisterSandboxRequest',
  z
    .object({
      ...ofRun,
      key,
      role,
      harness: Harness.zod.describe('The harness that runs in the sandbox.'),
      harnessVersion: boundedText(text.harnessVersion).nullish().describe('The version that the harness reports.'),
      instanceType: InstanceType.zod.describe('The size of the sandbox.'),
      timeoutAt: epochMsInput.nullish().describe('Deadline at which a running sandbox is ended.'),
    })
    .describe('A sandbox that the runtime has started for a run.'),
);
export const FinishSandboxRequest = request(
  'FinishSandboxRequest',
  z
    .object({
      ...ofSandbox,
      status: Ending.zod.describe('Status at the end.'),
      terminationReason: boundedText(text.outcome).nullish().describe('The reason for its end, shown to people.'),
    })
    .describe('The end of a sandbox.'),
);
export const ReportSessionRequest = request(
  'ReportSessionRequest',
  z
    .object({
      ...ofSession,
      outcome: boundedText(text.outcome).nullish().describe('Outcome of the session; absent while it is open.'),
    })
    .describe('A session of a harness in a sandbox: its start, or its outcome.'),
);

export const AppendLogRequest = request(
  'AppendLogRequest',
  z
    .object({
      ...ofSession,
      part: LogPart.zod.describe('The log of the session that the piece belongs to.'),
      seq: seq(report.logPieces),
      content: boundedText(text.logPiece).describe('The text of the piece.'),
      spanId: boundedText(text.spanId)
        .nullish()
        .describe('The span of the prompt: required in the part `prompt`, not allowed in other parts.'),
      promptScope: PromptScope.zod
        .nullish()
        .describe('The origin of a span of a prompt; `repo-contributed` when absent.'),
    })
    .superRefine(({ part, spanId, promptScope }, issues) => {
      if (part !== 'prompt' && promptScope != null) {
        issues.addIssue({ code: 'custom', path: ['promptScope'], message: 'is allowed only with the part prompt' });
      }
      if ((part === 'prompt') === (spanId != null)) return;
      const message = part === 'prompt' ? 'is required when part is prompt' : 'is allowed only with the part prompt';
      issues.addIssue({ code: 'custom', path: ['spanId'], message });
    })
    .describe('The next piece of a session’s log.'),
);

const fragmentText = boundedText(text.fragmentBody).nullish();
export const AppendFragmentsRequest = request(
  'AppendFragmentsRequest',
  z
    .object({
      ...ofSandbox,
      seq: seq(report.fragmentsPerSandbox).describe(
        'Number of the first fragment; further fragments follow without a gap.',
      ),
      fragments: z
        .array(
          z
            .object({
              kind: FragmentKind.zod.describe('Kind of the fragment, which decides which other fields are present.'),
              t: epochMsInput.describe('When the fragment was created.'),
              body: fragmentText.describe('The text of a thought, an answer, a question, an error or a prompt.'),
              action: boundedText(text.fragmentWord)
                .nullish()
                .describe('Name of the tool, for an action and for a question about its call.'),
              parameter: fragmentText.describe('Input of the tool, for an action and for a question about its call.'),
              result: fragmentText.describe('Output of the tool, for an action.'),
              toolUseId: boundedText(text.fragmentWord)
                .nullish()
                .describe(
                  'The id of the use, for an action or question; a later action with the same id has the result.',
                ),
              failed: z.boolean().nullish().describe('Whether an action that has ended failed.'),
              exitCode: z
                .number()
                .int()
                .min(-2_147_483_648)
                .max(2_147_483_647)
                .nullish()
                .describe('Exit code of a command that has ended.'),
              choices: z
                .array(boundedText(text.fragmentWord).describe('An answer.'))
                .max(maxChoices)
                .default([])
                .describe(`Answers that a question suggests, at most ${maxChoices}.`),
              items: z
                .array(
                  z
                    .object({
                      content: boundedText(text.activity).describe('Description of the step.'),
                      status: boundedText(text.fragmentWord).describe('Status of the step.'),
                    })
                    .describe('A step of a plan.'),
                )
                .max(report.planItems)
                .default([])
                .describe('The steps of a plan.'),
            })
            .describe('One thought, action or message of the agent.'),
        )
        .min(1)
        .max(report.fragments)
        .describe(`1 to ${report.fragments} fragments.`),
    })
    .describe('The next fragments of a sandbox.'),
);
