// GraphQL types for instructions to a runtime: a step, its agent, and the action after the step.
import { builder } from '#graph/builder.ts';
import { boolean, int, intOrNull, members, string, stringOrNull, strings, typed, typedOrNull } from '#graph/members.ts';
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
  fields: (t) =>
    members(t, {
      agentId: stringOrNull('The id of the agent; null for a built-in agent.'),
      name: string('The name of the agent.'),
      role: typed(AgentRole.type, 'The role of the agent; a builder is chosen before the other roles.'),
      isReadOnly: t.boolean({
        description:
          'Whether the agent must not change files; this follows from its role. The work of such an agent is neither checkpointed nor pushed.',
        resolve: ({ role }) => isReadOnly(role),
      }),
      harness: typed(Harness.type, 'One of the harnesses that the claim offered.'),
      model: string(
        'The id of the model for the harness. A model of a connector is prefixed with `messages/` or `compatible/`: the API of ' +
          'Anthropic, or Chat Completions.',
      ),
      effort: typedOrNull(Effort.type, 'Reasoning effort; null means the default of the model.'),
      userPrompt: stringOrNull('Instructions in addition to the prompt of the mission; null without any.', {
        complexity: weightOf(text.userPrompt.max),
      }),
      skillRepos: strings('Repositories with skills to install, `<owner>/<repo>`.'),
      sandboxTemplateId: string('The template that the sandbox is created from.'),
    }),
});

const CheckpointOrder = builder.objectRef<NonNullable<StepOrder['checkpoint']>>('CheckpointOrder').implement({
  description: 'A checkpoint for a runtime.',
  fields: (t) =>
    members(t, {
      commitSha: string('The commit of all files; its parent is the commit that was checked out.'),
      url: string('URL of the bundle, valid for about an hour; it returns 404 when the bundle is lost.'),
    }),
});

const ReplayOrder = builder.objectRef<NonNullable<StepOrder['replay']>>('ReplayOrder').implement({
  description: 'The recording that answers the calls of a step to models and tools.',
  fields: (t) =>
    members(t, {
      url: string(
        'URL of the lines of the recording, valid for an hour; it returns 404 when the recording was deleted.',
      ),
      runId: string('The recorded run.'),
      stepId: string('The recorded step.'),
      call: intOrNull(
        'Number of the first call that the recording does not answer. The runtime ends the step at this call, and reports the session ' +
          'of the step. Null means that the recording answers the whole step.',
      ),
    }),
});

export const RunStepType = builder.objectRef<StepOrder>('RunStep').implement({
  description: 'The step for an agent of the runtime. Each step has its own session, sandbox and cost.',
  fields: (t) =>
    members(t, {
      stepId: string('The id of the step, required in reports on the step.'),
      seq: int('Position among the steps of the run, from 0.'),
      role: typed(AgentRole.type, 'The role of the agent.'),
      agent: typed(RunAgentType, 'The agent that works on the step.'),
      prompt: string('The task of the agent. The shell harness runs it as a script.', {
        complexity: weightOf(text.prompt.max),
      }),
      outputSchema: stringOrNull(
        'The JSON schema of the step’s structured output, as JSON text; null for a step without structured output.',
      ),
      resumeSessionId: stringOrNull(
        'The session of the harness to continue. A new one begins when it is null or the session is lost.',
      ),
      resumePrompt: stringOrNull(
        'The prompt for the session of `resumeSessionId` if it has already received `prompt`; null means that `prompt` is sent.',
        { complexity: weightOf(text.prompt.max) },
      ),
      preamble: stringOrNull('A summary of earlier work that precedes `prompt` in a new session; null means none.', {
        complexity: weightOf(text.prompt.max),
      }),
      environment: typed(
        StepEnvironmentType,
        'Source and content of the sandbox of the step, and the hosts that it may connect to.',
      ),
      isRecorded: boolean(
        'Whether the organization wants the model and tool calls of the step to be recorded, with `openRecordingPart`.',
      ),
      replay: typedOrNull(
        ReplayOrder,
        'The recording that answers the calls of the step; the step fails at the first call that differs. Null for a step that is not a replay.',
      ),
      checkpoint: typedOrNull(
        CheckpointOrder,
        'The checkpoint that a new workspace starts from; null means the branch of the run, or else its base branch.',
      ),
      traceparent: stringOrNull(
        'The trace context of the step (W3C Trace Context), for requests to models and MCP servers; null when the service is not traced.',
      ),
    }),
});

const StepOutcomeType = wordSet('StepOutcome', stepOutcomes, 'Next action after a finished step.', {
  next: 'The runtime works on `step`.',
  waiting: 'A person must approve the plan. The lease has ended: the run can be claimed once it is approved.',
  handed_back: 'The next step needs another harness. The lease has ended: a runtime that offers it can claim the run.',
  done: 'The work is done: the runtime calls `finishRun`.',
});
export const FinishedStep = builder.objectRef<StepAnswer>('FinishedStep').implement({
  description: 'The action after a finished step.',
  fields: (t) =>
    members(t, {
      outcome: typed(StepOutcomeType.type, 'The next action of the runtime.'),
      step: typedOrNull(RunStepType, 'The next step; null unless `outcome` is `next`.'),
      failure: stringOrNull(
        'With `done`: why the run has failed, regardless of the status sent to `finishRun`; null when the run has not failed.',
      ),
    }),
});
