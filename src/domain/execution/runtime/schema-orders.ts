// The orders to a runtime in the graph: a step, its agent, and the action after it.
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { isReadOnly } from '../../projects/agents/catalog.ts';
import { AgentRole, Effort, Harness } from '../../projects/agents/schema-catalog.ts';
import { stepOutcomes } from '../../work/runs/step-model.ts';
import type { StepOrder } from '../mission-steps/orders.ts';
import type { StepAnswer } from './finish-step.ts';
import { StepEnvironmentType } from './schema-environments.ts';

export const RunAgentType = builder.objectRef<StepOrder['agent']>('RunAgent').implement({
  description: 'The agent that works on a run, as it was when the run was claimed.',
  fields: (t) => ({
    agentId: t.exposeString('agentId', {
      nullable: true,
      description: 'The id of the agent; null for a built-in agent.',
    }),
    name: t.exposeString('name', { description: 'The name of the agent.' }),
    role: t.expose('role', {
      type: AgentRole.type,
      description: 'The role of the agent; a builder is chosen before the other roles.',
    }),
    isReadOnly: t.boolean({
      description:
        'Whether the agent must not change files, which follows from its role. Its work is neither checkpointed nor pushed.',
      resolve: ({ role }) => isReadOnly(role),
    }),
    harness: t.expose('harness', { type: Harness.type, description: 'One of the harnesses that the claim offered.' }),
    model: t.exposeString('model', {
      description:
        'The model that the harness is to use, by its vendor’s name; that of a connector after `messages/` or `compatible/`: the API of ' +
        'Anthropic, or Chat Completions.',
    }),
    effort: t.expose('effort', {
      type: Effort.type,
      nullable: true,
      description: 'Reasoning effort; null means the default of the model.',
    }),
    userPrompt: t.exposeString('userPrompt', {
      nullable: true,
      complexity: weightOf(text.userPrompt.max),
      description: 'Instructions in addition to the prompt of the mission; null without any.',
    }),
    skillRepos: t.exposeStringList('skillRepos', {
      description: 'Repositories with skills to install, `<owner>/<repo>`.',
    }),
    sandboxTemplateId: t.exposeString('sandboxTemplateId', {
      description: 'The template that the sandbox is created from.',
    }),
  }),
});

const CheckpointOrder = builder.objectRef<NonNullable<StepOrder['checkpoint']>>('CheckpointOrder').implement({
  description: 'A checkpoint for a runtime.',
  fields: (t) => ({
    commitSha: t.exposeString('commitSha', {
      description: 'The commit of all files; its parent is the one that was checked out.',
    }),
    url: t.exposeString('url', {
      description: 'Address of the bundle, valid for about an hour; it answers 404 when the bundle is lost.',
    }),
  }),
});

export const RunStepType = builder.objectRef<StepOrder>('RunStep').implement({
  description: 'The step for an agent of the runtime. Each step has its own session, sandbox and cost.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'The id of the step, required in reports on the step.' }),
    seq: t.exposeInt('seq', { description: 'Position among the steps of the run, from 0.' }),
    role: t.expose('role', { type: AgentRole.type, description: 'The role of the agent.' }),
    agent: t.expose('agent', { type: RunAgentType, description: 'The agent that works on the step.' }),
    prompt: t.exposeString('prompt', {
      complexity: weightOf(text.prompt.max),
      description: 'The task of the agent. The shell harness runs it as a script.',
    }),
    outputSchema: t.exposeString('outputSchema', {
      nullable: true,
      description: 'The JSON schema of the step’s structured output, as JSON text; null when none is wanted.',
    }),
    resumeSessionId: t.exposeString('resumeSessionId', {
      nullable: true,
      description: 'The session of the harness to continue. A new one begins when it is null or the session is lost.',
    }),
    resumePrompt: t.exposeString('resumePrompt', {
      nullable: true,
      complexity: weightOf(text.prompt.max),
      description:
        'The prompt for that session, which has received `prompt` already; null means that `prompt` is sent.',
    }),
    preamble: t.exposeString('preamble', {
      nullable: true,
      complexity: weightOf(text.prompt.max),
      description: 'A summary of earlier work that precedes `prompt` in a new session; null means none.',
    }),
    environment: t.expose('environment', {
      type: StepEnvironmentType,
      description: 'Source and content of the sandbox of the step, and the hosts that it may connect to.',
    }),
    checkpoint: t.expose('checkpoint', {
      type: CheckpointOrder,
      nullable: true,
      description:
        'The checkpoint that a new workspace starts from; null means the branch of the run, or else its base branch.',
    }),
  }),
});

const StepOutcomeType = wordSet('StepOutcome', stepOutcomes, 'Next action after a finished step.', {
  next: 'The runtime works on `step`.',
  waiting: 'A person must approve the plan. The lease has ended: the run can be claimed once it is approved.',
  handed_back: 'The next step needs another harness. The lease has ended: a runtime that offers it can claim the run.',
  done: 'The runtime opens the pull request where it does so, and calls `finishRun`.',
});
export const FinishedStep = builder.objectRef<StepAnswer>('FinishedStep').implement({
  description: 'The action after a finished step.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: StepOutcomeType.type, description: 'The next action of the runtime.' }),
    step: t.expose('step', {
      type: RunStepType,
      nullable: true,
      description: 'The next step; null unless `outcome` is `next`.',
    }),
    failure: t.exposeString('failure', {
      nullable: true,
      description:
        'With `done`: why the run has failed, regardless of the status sent to `finishRun`; null when the run has not failed.',
    }),
  }),
});
