// GraphQL types for the steps and the history of a run.
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
import { AgentRole, Harness } from '../../projects/agents/schema-catalog.ts';
import { stepText } from './bounds.ts';
import { messageKinds, RunMessage } from './message-model.ts';
import { type AgentChoice, choiceWays } from './model.ts';
import { RunStep, stepStatuses } from './step-model.ts';

const StepStatus = wordSet('StepStatus', stepStatuses, 'Status of a step.', {
  waiting: 'No runtime works on the step yet.',
  running: 'A runtime works on the step.',
  completed: 'The agent finished the step.',
  failed: 'The agent failed, or its output was invalid.',
  canceled: 'The run was canceled.',
});

export const MissionStepType = builder.modelType(RunStep, 'MissionStep').implement({
  description: 'The work of one agent on a run, in one role. A run has one step at a time.',
  fields: (t) =>
    members(t, {
      id: string('The id, which is unique and never changes.'),
      runId: string('The id of the run; starts with `run_`.'),
      seq: int('Position among the steps of the run, from 0.'),
      role: typed(AgentRole.type, 'The role of the agent in the step.'),
      round: int('The number of the builder’s attempt to which the step belongs, from 1; 0 for the planner.'),
      status: typed(StepStatus.type, 'Status of the step.'),
      agentName: t.string({
        description: 'The name of the agent when the run began.',
        resolve: ({ agent }) => agent.name,
      }),
      agentId: t.string({
        nullable: true,
        description: 'The id of the agent, which may be deleted by now; null for a built-in one.',
        resolve: ({ agent }) => agent.agentId,
      }),
      agentVersion: t.int({
        nullable: true,
        description: 'The number of the version of the agent; null for a built-in one.',
        resolve: ({ agent }) => agent.version ?? null,
      }),
      harness: typed(Harness.type, 'The program that drives the model of the step.'),
      model: string('The id of the step’s model.'),
      sandboxId: stringOrNull('The sandbox of the step; null before it starts.'),
      sessionId: stringOrNull('The session of the harness; null until it is known.'),
      output: t.field({
        type: 'Json',
        nullable: true,
        complexity: weightOf(stepText.output.max),
        description:
          'Result of the step: `{steps}` of a planner, `{verdict, comments}` of a reviewer, `{passed, findings}` of QA; null ' +
          'otherwise.',
        resolve: ({ output }) => (output === null ? null : JSON.parse(output)),
      }),
      error: stringOrNull('Reason why the step failed; null when it did not.'),
      turns: intOrNull('Turns of the model; null until they are known.'),
      costUsd: float('Cost of the step in US dollars, the sum of its reported costs.'),
      inputTokens: safeInt('Input tokens, without those read from or written to a cache.'),
      cachedInputTokens: safeInt('Input tokens read from the vendor’s cache.'),
      cacheWriteTokens: safeInt('Input tokens written to the vendor’s cache.'),
      outputTokens: safeInt('Output tokens, including those of reasoning.'),
      createdAt: epochMs('When the step became the next one of the run.'),
      startedAt: epochMsOrNull('When a runtime began the step; null before.'),
      finishedAt: epochMsOrNull('When the step ended; null before.'),
    }),
});

const MessageKind = wordSet('RunMessageKind', messageKinds, 'Kind of an entry in the history of a run.', {
  message: 'A message to the agent.',
  answer: 'An answer to a question of the agent.',
  approval: 'The plan was approved.',
  interrupt: 'The agent was interrupted.',
  resume: 'The agent was resumed.',
  push: 'Local changes were pushed to the mission; the text is their commit.',
  handover: 'The mission was handed to another person, whose name is the text.',
});

export const RunMessageType = builder.modelType(RunMessage, 'RunMessage').implement({
  description:
    'An entry in the history of a run: a message that a person has sent to the agent, or a decision of a person about the run.',
  fields: (t) =>
    members(t, {
      id: string('The id, which is unique and never changes.'),
      runId: string('The id of the run; starts with `run_`.'),
      seq: int('Position in the history of the run, from 0.'),
      kind: typed(MessageKind.type, 'Kind of the entry.'),
      text: string(
        'The text of a message or an answer, the name of the person whom the mission was handed to, or the pushed commit; empty for other kinds.',
        {
          complexity: weightOf(stepText.message.max),
        },
      ),
      author: string('The name of the person at the time of the message or decision.'),
      authorUserId: stringOrNull('The id of the person; null once the account is deleted.'),
      sandboxId: stringOrNull('The sandbox of the agent that asked the question; null unless the entry is an answer.'),
      fragmentSeq: intOrNull('The position of the question; null unless the entry is an answer.'),
      approved: booleanOrNull(
        'The decision about the call of a tool; null unless the entry answers a question about a call.',
      ),
      createdAt: epochMs('When the message was sent or the decision was made.'),
      deliveredAt: epochMsOrNull(
        'When the message was delivered to the runtime of the agent; null before, and for kinds other than messages and answers.',
      ),
      acknowledgedAt: epochMsOrNull('When the agent read the message; null before.'),
    }),
});

const ChoiceWay = wordSet('ChoiceWay', choiceWays, 'Method by which the agents of a run are chosen.', {
  asked: 'The orchestrator’s model is being asked.',
  model: 'The orchestrator’s model chooses.',
  rules: 'Roles and harnesses decide.',
});

export const AgentChoiceType = builder.objectRef<AgentChoice>('AgentChoice').implement({
  description: 'The choice of a run’s agents, and the cost of the question to the orchestrator’s model.',
  fields: (t) =>
    members(t, {
      way: typed(ChoiceWay.type, 'How the agents were chosen.'),
      reason: string('The model’s reason for the choice, or why the model did not choose.'),
      askedAt: epochMsOrNull('When the model was asked; null when it was not asked.'),
      model: stringOrNull('The id of the model; null when none was asked.'),
      agentIds: t.exposeStringList('agents', { description: 'Agents that the model has chosen; empty otherwise.' }),
      inputTokens: t.field({
        type: 'SafeInt',
        nullable: true,
        description: 'Input tokens, without those read from or written to a cache; null when they are not known.',
        resolve: ({ tokens }) => tokens?.inputTokens ?? null,
      }),
      cachedInputTokens: t.field({
        type: 'SafeInt',
        nullable: true,
        description: 'Input tokens read from the vendor’s cache; null when they are not known.',
        resolve: ({ tokens }) => tokens?.cachedInputTokens ?? null,
      }),
      outputTokens: t.field({
        type: 'SafeInt',
        nullable: true,
        description: 'Output tokens; null when they are not known.',
        resolve: ({ tokens }) => tokens?.outputTokens ?? null,
      }),
      costUsd: float('Cost of the question in US dollars at list prices, part of the cost of the mission.'),
    }),
});
