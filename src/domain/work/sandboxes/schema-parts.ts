// GraphQL types for the parts of a sandbox: logs, metrics and fragments (docs/contract.md#sandboxes).
import { builder } from '#graph/builder.ts';
import {
  booleanOrNull,
  epochMs,
  epochMsOrNull,
  float,
  int,
  intOrNull,
  members,
  safeInt,
  string,
  stringOrNull,
  typed,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { bytes, text } from '#limits.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import type { LogTime, PromptSpan, SandboxLog } from './log.ts';
import { fragmentKinds, logParts, promptScopes, type SandboxFragment } from './model.ts';
import type { MetricPoint } from './operations.ts';

export const LogPart = wordSet('SandboxLogPart', logParts, 'Which log of a session.', {
  session: 'Output of the harness.',
  system: 'Messages of the runtime about the session.',
  prompt: 'The prompt that the agent started with, in spans.',
});
export const PromptScope = wordSet('PromptScope', promptScopes, 'Source of the text in a span of a prompt.');

const PromptSpanType = builder.objectRef<PromptSpan>('PromptSpan').implement({
  description: 'A part of a prompt with its source.',
  fields: (t) =>
    members(t, {
      id: string('The id of the span, unique in the answer.'),
      content: string('The text of the span within this chunk.', { complexity: weightOf(bytes.logContent) }),
      scope: typed(PromptScope.type, 'Source of the span’s text.', { graphOnly: true }),
    }),
});
const LogTimeType = builder.objectRef<LogTime>('SandboxLogTime').implement({
  description: 'Arrival time of the lines of a log, from this line up to the next listed one.',
  fields: (t) =>
    members(t, {
      line: int('Number of the first of these lines in `content`, counted from 0.'),
      at: epochMs('When the runtime reported these lines, to the second.'),
    }),
});
export const SandboxLogType = builder.objectRef<SandboxLog>('SandboxLog').implement({
  description: 'One log of a session.',
  fields: (t) =>
    members(t, {
      sandboxId: string('The id of the sandbox; starts with `sbx_`.'),
      role: typed(AgentRole.type, 'The role of the session.'),
      sessionId: string('The session.'),
      part: typed(LogPart.type, 'The log of the session from which `content` was read.'),
      content: string('The newest content or, if `cursor` was sent, an older piece: at most 1,048,576 bytes.', {
        complexity: weightOf(bytes.logContent),
      }),
      bytes: safeInt('Length of the whole log in bytes, not only of `content`.'),
      deletedAt: epochMsOrNull(
        'When the log was deleted because the retention period of the organization had passed. A deleted log is empty. Null while the log is kept.',
      ),
      promptScope: stringOrNull(
        'Source of the text of the whole prompt: `repo-contributed` from files of the repository, `mission` from the mission, or ' +
          '`mixed`; null if `part` is not `prompt`, and while the prompt is empty.',
      ),
      promptSpans: typed([PromptSpanType], 'The spans of the prompt; empty if `part` is not `prompt`.', {
        complexity: { field: 1, multiplier: 1 },
      }),
      times: t.field({
        graphOnly: true,
        description:
          'When the lines of `content` arrived, in their order; lines before the first one have no known time.',
        type: [LogTimeType],
        // Consecutive lines that arrived in the same second share one entry of `times`. The query cost is limited, because `times` has at most
        // one entry for each line of `content`, and at most one entry for each second.
        complexity: { field: weightOf(bytes.logContent / 4), multiplier: 1 },
        resolve: ({ times }) => times(),
      }),
      nextCursor: stringOrNull(
        'Cursor of the previous piece; null when this piece begins the log. REST returns it in `Link`.',
        { graphOnly: true },
      ),
    }),
});

export const FragmentKind = wordSet('SandboxFragmentKind', fragmentKinds, 'Kind of a fragment of an agent’s work.', {
  thought: 'Reasoning of the model, in `body`.',
  action: 'A use of a tool: `action`, `parameter` and `result`.',
  elicitation: 'A question to a person, in `body`; with `action` and `parameter`, about the call of a tool.',
  response: 'An answer of the agent, in `body`.',
  error: 'An error, described in `body`.',
  prompt: 'An instruction to the agent, in `body`.',
  plan: 'The steps that the agent intends to take, in `items`.',
});

export const SandboxMetric = builder.objectRef<MetricPoint>('SandboxMetric').implement({
  description: 'Resource use of a sandbox: the mean over an interval that ends at `t`.',
  fields: (t) =>
    members(t, {
      t: epochMs('End of the interval.'),
      cpuPct: float('CPU use in percent of all cores, 0 to 100.'),
      memUsedMb: float('Memory in use, MiB.'),
      memTotalMb: float('Memory available to the sandbox, MiB.'),
      diskUsedPct: float('Disk use in percent of the mission’s limit, 0 to 100.'),
    }),
});

const PlanItem = builder.objectRef<SandboxFragment['items'][number]>('SandboxPlanItem').implement({
  description: 'One step of a plan.',
  fields: (t) =>
    members(t, {
      content: string('Description of the step.'),
      status: string(
        'The status that the agent reported, such as `pending`, `in_progress` or `completed`. In the last plan of a sandbox that has ended, ' +
          'a step in progress is `completed`, `failed` or `canceled` as the sandbox is, and a pending step is `skipped`.',
      ),
    }),
});
export const LiveFragment = builder.objectRef<SandboxFragment>('SandboxLiveFragment').implement({
  description: 'A thought, action or message of an agent at work.',
  fields: (t) =>
    members(t, {
      kind: typed(FragmentKind.type, 'Kind of the fragment, which determines the other fields that are set.'),
      t: t.expose('at', { type: 'EpochMs', description: 'When the fragment was created.' }),
      body: stringOrNull('The text; null for an action.', { complexity: weightOf(text.fragmentBody.max) }),
      action: stringOrNull('The tool of the action.'),
      parameter: stringOrNull('Input of the tool; null for other kinds.', {
        complexity: weightOf(text.fragmentBody.max),
      }),
      result: stringOrNull('Output of the tool; null until there is one.', {
        complexity: weightOf(text.fragmentBody.max),
      }),
      toolUseId: stringOrNull('The model’s id of the tool call; a later action with the same id contains the result.'),
      failed: booleanOrNull(
        'Whether the tool call failed; null until it has ended, and when the runtime does not report it.',
        { graphOnly: true },
      ),
      exitCode: intOrNull('Exit code of a command; null when unknown, and for other tools.', { graphOnly: true }),
      choices: t.exposeStringList('choices', {
        graphOnly: true,
        nullable: true,
        description: 'Answers that a question suggests; null for none.',
      }),
      items: typed([PlanItem], 'The steps of a plan.'),
    }),
});
