// The steps and the history of a run in the graph.
import { builder } from '#graph/builder.ts';
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
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id, which is unique and never changes.' }),
    runId: t.exposeString('runId', { description: 'The id of the run; starts with `run_`.' }),
    seq: t.exposeInt('seq', { description: 'Position among the steps of the run, from 0.' }),
    role: t.expose('role', { type: AgentRole.type, description: 'The part of the agent.' }),
    round: t.exposeInt('round', {
      description: 'The attempt of the builder that the step belongs to, from 1; 0 for the planner.',
    }),
    status: t.expose('status', { type: StepStatus.type, description: 'Status of the step.' }),
    agentName: t.string({
      description: 'The name of the agent when the run began.',
      resolve: ({ agent }) => agent.name,
    }),
    harness: t.expose('harness', { type: Harness.type, description: 'The program that drives the model of the step.' }),
    model: t.exposeString('model', { description: 'The id of the step’s model.' }),
    sandboxId: t.exposeString('sandboxId', {
      nullable: true,
      description: 'The sandbox of the step; null before it starts.',
    }),
    sessionId: t.exposeString('sessionId', {
      nullable: true,
      description: 'The session of the harness; null until it is known.',
    }),
    output: t.field({
      type: 'Json',
      nullable: true,
      complexity: weightOf(stepText.output.max),
      description:
        'Result of the step: `{steps}` of a planner, `{verdict, comments}` of a reviewer, `{passed, findings}` of QA; null ' +
        'otherwise.',
      resolve: ({ output }) => (output === null ? null : JSON.parse(output)),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the step failed; null when it did not.' }),
    turns: t.exposeInt('turns', { nullable: true, description: 'Turns of the model; null until they are known.' }),
    costUsd: t.exposeFloat('costUsd', {
      description: 'Cost of the step in US dollars, the sum of its reported costs.',
    }),
    inputTokens: t.expose('inputTokens', {
      type: 'SafeInt',
      description: 'Input tokens, without those read from or written to a cache.',
    }),
    cachedInputTokens: t.expose('cachedInputTokens', {
      type: 'SafeInt',
      description: 'Input tokens read from the vendor’s cache.',
    }),
    cacheWriteTokens: t.expose('cacheWriteTokens', {
      type: 'SafeInt',
      description: 'Input tokens written to the vendor’s cache.',
    }),
    outputTokens: t.expose('outputTokens', {
      type: 'SafeInt',
      description: 'Output tokens, including those of reasoning.',
    }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the step became the next one of the run.' }),
    startedAt: t.expose('startedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When a runtime began the step; null before.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the step ended; null before.',
    }),
  }),
});

const MessageKind = wordSet('RunMessageKind', messageKinds, 'Kind of an entry in the history of a run.', {
  message: 'A message to the agent.',
  answer: 'An answer to a question of the agent.',
  approval: 'The plan was approved.',
  interrupt: 'The agent was interrupted.',
  resume: 'The agent was resumed.',
});

export const RunMessageType = builder.modelType(RunMessage, 'RunMessage').implement({
  description: 'A message of a person to the agent of a run, or a decision about it.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id, which is unique and never changes.' }),
    runId: t.exposeString('runId', { description: 'The id of the run; starts with `run_`.' }),
    seq: t.exposeInt('seq', { description: 'Position in the history of the run, from 0.' }),
    kind: t.expose('kind', { type: MessageKind.type, description: 'Kind of the entry.' }),
    text: t.exposeString('text', {
      complexity: weightOf(stepText.message.max),
      description: 'The text of a message or an answer; empty for other kinds.',
    }),
    author: t.exposeString('author', { description: 'The name of the person when they sent it.' }),
    authorUserId: t.exposeString('authorUserId', {
      nullable: true,
      description: 'The id of the person; null once the account is deleted.',
    }),
    sandboxId: t.exposeString('sandboxId', {
      nullable: true,
      description: 'The sandbox whose agent asked; null unless this is an answer.',
    }),
    fragmentSeq: t.exposeInt('fragmentSeq', {
      nullable: true,
      description: 'The position of the question; null unless this is an answer.',
    }),
    approved: t.exposeBoolean('approved', {
      nullable: true,
      description: 'The decision about the call of a tool; null unless this answers a question about a call.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'EpochMs',
      description: 'When the message was sent, or the decision made.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'EpochMs',
      nullable: true,
      description:
        'When the message was delivered to the runtime of the agent; null before, and for kinds other than messages and answers.',
    }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the agent took the message up; null before.',
    }),
  }),
});

const ChoiceWay = wordSet('ChoiceWay', choiceWays, 'Method by which the agents of a run are chosen.', {
  asked: 'The orchestrator’s model is being asked.',
  model: 'The orchestrator’s model chooses.',
  rules: 'Roles and harnesses decide.',
});

export const AgentChoiceType = builder.objectRef<AgentChoice>('AgentChoice').implement({
  description: 'The choice of a run’s agents, and the cost of the question to the orchestrator’s model.',
  fields: (t) => ({
    way: t.expose('way', { type: ChoiceWay.type, description: 'The way in which the agents were chosen.' }),
    reason: t.exposeString('reason', {
      description: 'Reason of the choice in the words of the model, or why the model did not choose.',
    }),
    askedAt: t.expose('askedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the model was asked; null when it was not asked.',
    }),
    model: t.exposeString('model', { nullable: true, description: 'The id of the model; null when none was asked.' }),
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
    costUsd: t.exposeFloat('costUsd', {
      description: 'Cost of the question in US dollars at list prices, part of the cost of the mission.',
    }),
  }),
});
