// GraphQL operations that steer a running mission and show it live: messages to its agent, approval of its plan, interruption.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { members, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { missionLimitArguments } from '../../projects/sandbox-templates/schema-limits.ts';
import { mission, stepText } from './bounds.ts';
import * as limits from './limits.ts';
import type { RunMessage } from './message-model.ts';
import * as operations from './operations.ts';
import { RunType } from './schema.ts';
import { missionBudget } from './schema-common.ts';
import { MissionStepType, RunMessageType } from './schema-steps.ts';
import * as steering from './steering.ts';
import type { RunStep } from './step-model.ts';

const runId = { ...pathId, description: 'The id of the run.' } as const;
const { maxMinutes, maxModelCalls, maxTokens } = missionLimitArguments;
const words = { required: true, validate: { schema: boundedText(stepText.message) } } as const;

builder.objectFields(RunType, (t) => ({
  steps: t.hasMany('steps', {
    description: 'All steps of the run, newest first; none before a runtime has claimed the run.',
    link: 'missions:read',
    type: MissionStepType,
    limit: mission.steps,
  }),
  messages: t.hasMany('messages', {
    description: 'Messages and decisions of people: the newest 100, newest first.',
    link: 'missions:read',
    type: RunMessageType,
    limit: mission.messages,
  }),
}));

const RunSteps = builder.objectRef<{ data: RunStep[] }>('RunSteps').implement({
  description: 'The steps of a run.',
  fields: (t) =>
    members(t, {
      data: typed([MissionStepType], 'The steps, in their order.', {
        complexity: { field: 1, multiplier: mission.steps },
      }),
    }),
});
const RunHistory = builder.objectRef<{ data: RunMessage[] }>('RunHistory').implement({
  description: 'Messages and decisions of people about a run.',
  fields: (t) =>
    members(t, {
      data: typed([RunMessageType], 'The messages and decisions, in their order.', {
        complexity: { field: 1, multiplier: mission.messages },
      }),
    }),
});

builder.queryFields((t) => ({
  runSteps: t.field({
    description:
      'The steps of a run in their order: the agent of each step, the plan, reviews and tests, tokens and cost.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}/steps',
    tool: 'list_run_steps',
    type: RunSteps,
    args: { runId: t.arg.string(runId) },
    resolve: async (_, args, { caller }) => ({ data: await operations.listSteps(caller, args.runId) }),
  }),
  runMessages: t.field({
    description: 'Messages to the agents of a run, and decisions of people about the run, in order.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}/messages',
    tool: 'list_run_messages',
    type: RunHistory,
    args: { runId: t.arg.string(runId) },
    resolve: async (_, args, { caller }) => ({ data: await operations.listMessages(caller, args.runId) }),
  }),
}));

builder.mutationFields((t) => ({
  sendMessage: t.field({
    description:
      'Sends a message to the agent of a run. The agent reads it in its current turn, within about two seconds, or when its step ' +
      'begins. A message that is still unread when the work is done starts one more step.',
    scope: 'missions:run',
    rest: { route: 'POST /runs/{runId}/messages', body: 'SendMessageRequest', status: 201 },
    tool: 'send_message',
    type: RunMessageType,
    args: {
      runId: t.arg.string(runId),
      text: t.arg.string({ ...words, description: `The message: 1 to ${stepText.message.max} characters.` }),
      messageId: t.arg.string({
        description: 'An id that you choose for the message: a repeated request with the same id changes nothing.',
        validate: { schema: boundedText(text.runtimeKey) },
      }),
    },
    resolve: (_, args, { caller }) => steering.sendMessage(caller, args),
  }),
  answerElicitation: t.field({
    description:
      'Answers a question of the agent of a run, or decides about a tool call that needs approval. A question is answered ' +
      'once. The field `questions` of a run lists the open questions.',
    scope: 'missions:run',
    rest: { route: 'POST /runs/{runId}/answer', body: 'AnswerElicitationRequest', status: 201 },
    tool: { name: 'answer_elicitation', idempotent: true },
    type: RunMessageType,
    args: {
      runId: t.arg.string(runId),
      text: t.arg.string({
        required: true,
        description: `The answer: 1 to ${stepText.message.max} characters. For a decision about a tool call, this is the reason that the agent gets; it may be empty.`,
        validate: { schema: boundedText({ ...stepText.message, min: 0 }) },
      }),
      approve: t.arg.boolean({
        description:
          'Whether the tool may be called with these arguments; required for a question about a tool call, not allowed for other questions.',
      }),
      sandboxId: t.arg.string({
        description: 'The sandbox whose agent asked; required when several questions wait.',
        validate: { schema: boundedText(text.pathId) },
      }),
      seq: t.arg.int({
        description:
          'The position of the question among the fragments of the sandbox; required when several questions wait. Without the position, the answer is ' +
          'for the question that waits now, which may differ from the one that you have read.',
        validate: { schema: z.int().min(0).max(1_000_000) },
      }),
    },
    resolve: (_, args, { caller }) => steering.answerElicitation(caller, args),
  }),
  setRunBudget: t.field({
    description:
      'Sets the total budget of an open run. A run that waits for more budget (`needs`) continues within seconds. The plan of the ' +
      'organization also limits the cost of a mission.',
    scope: 'missions:run',
    rest: { route: 'PUT /runs/{runId}/budget', body: 'SetRunBudgetRequest', errors: [409] },
    tool: { name: 'set_run_budget', idempotent: true },
    type: RunType,
    args: {
      runId: t.arg.string(runId),
      budgetUsd: t.arg.float({
        ...missionBudget,
        required: true,
        description: `US dollars: ${mission.budgetUsd.min} to ${mission.budgetUsd.max}, and at least the current cost of the run.`,
      }),
    },
    resolve: (_, args, { caller }) => limits.setBudget(caller, args),
  }),
  setRunLimits: t.field({
    description:
      'Sets limits of an open run; absent limits are unchanged. A run that waits for a higher limit (`needs`) continues within seconds.',
    scope: 'missions:run',
    rest: { route: 'PUT /runs/{runId}/limits', body: 'SetRunLimitsRequest', errors: [409] },
    tool: { name: 'set_run_limits', idempotent: true },
    type: RunType,
    args: {
      runId: t.arg.string(runId),
      maxMinutes: t.arg.int(maxMinutes),
      maxModelCalls: t.arg.int(maxModelCalls),
      maxTokens: t.arg.int(maxTokens),
    },
    resolve: (_, args, { caller }) => limits.setLimits(caller, args),
  }),
  approvePlan: t.field({
    description: 'Approves the plan of a run that waits for it. Approving it twice changes nothing.',
    scope: 'missions:run',
    rest: 'POST /runs/{runId}/approval',
    tool: { name: 'approve_plan', idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(runId) },
    resolve: (_, args, { caller }) => steering.approvePlan(caller, args.runId),
  }),
  interruptRun: t.field({
    description:
      'Interrupts the agent of a run in the middle of its turn. The agent keeps its session until the run is resumed. A run that has not begun ' +
      'waits until it is resumed.',
    scope: 'missions:run',
    rest: 'POST /runs/{runId}/interruption',
    tool: { name: 'interrupt_run', idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(runId) },
    resolve: (_, args, { caller }) => steering.interruptRun(caller, args.runId),
  }),
  resumeRun: t.field({
    description: 'Lets the interrupted agent of a run continue.',
    scope: 'missions:run',
    rest: 'POST /runs/{runId}/resumption',
    tool: { name: 'resume_run', idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(runId) },
    resolve: (_, args, { caller }) => steering.resumeRun(caller, args.runId),
  }),
}));
