// The step for a runtime that has claimed a run: the open step or, at the first claim, the step of the first chosen agent.
import type { Transaction } from '#foundation/postgres/database.ts';
import { providerNeeded } from '../../projects/agents/catalog.ts';
import { canRunWith, type RuntimeOffer } from '../../projects/agents/runtime-harnesses.ts';
import { noRoomFor, typesWithin } from '../../projects/instance-types/sizes.ts';
import { listNamedModels, namedModel } from '../../projects/integrations/operations.ts';
import type { Project } from '../../projects/projects/model.ts';
import { describeLabels, missingIn } from '../../projects/sandbox-templates/labels.ts';
import { missionLimitNames } from '../../projects/sandbox-templates/mission-limits.ts';
import type { SandboxTemplate } from '../../projects/sandbox-templates/model.ts';
import { findReplaying, type ReplayOrder, replayOrder } from '../../work/forks/replaying.ts';
import { isRecorded } from '../../work/recordings/settings.ts';
import { branchOf } from '../../work/runs/branch.ts';
import { recordTemplateChoices } from '../../work/runs/decisions.ts';
import type { Run, RunAgent } from '../../work/runs/model.ts';
import { traceparentOf } from '../../work/runs/spans.ts';
import type { RunStep } from '../../work/runs/step-model.ts';
import { appendStep, beginStep, latestStepOf, type NewStep } from '../../work/runs/steps.ts';
import { type AskedQuestion, chooseAgents } from './agent-choice.ts';
import { isStructured, type Next, openingStep } from './chain.ts';
import { environmentOf, type StepEnvironment, templateOf } from './environment.ts';
import { outputSchemaOf } from './handovers.ts';
import { withIssue } from './prompts.ts';
import { checkpointBefore, noRecovery, type Recovery, recover } from './recovery.ts';

/** A step, as the runtime receives it. */
export interface StepOrder {
  stepId: string;
  seq: number;
  role: RunAgent['role'];
  /** The agent of the step. Its model has the name that the harness expects. */
  agent: RunAgent;
  prompt: string;
  outputSchema: string | null;
  resumeSessionId: string | null;
  /** The prompt for a resumed session; null when the runtime has itself worked on the run before. */
  resumePrompt: string | null;
  preamble: string | null;
  checkpoint: Recovery['checkpoint'];
  environment: StepEnvironment;
  /** Trace context of the step's span; null when tracing is off. */
  traceparent: string | null;
  isRecorded: boolean;
  /** The recording that answers the calls of the step; null for a step that is not a replay. */
  replay: ReplayOrder | null;
}

export async function orderOf(trx: Transaction, run: Run, step: RunStep): Promise<StepOrder> {
  const { id: stepId, seq, role, prompt, hasSchema, resumeSessionId } = step;
  const outputSchema = hasSchema ? outputSchemaOf(role) : null;
  const environment = await environmentOf(trx, run, step);
  const agent = { ...step.agent, model: await modelForHarness(trx, run, step.agent) };
  const context = { isRecorded: await isRecorded(trx, run.orgId), traceparent: traceparentOf(run.id, stepId) };
  const fork = await findReplaying(trx, run);
  const replay = fork ? await replayOrder(trx, fork, step) : null;
  const task = { prompt, outputSchema, resumeSessionId, replay };
  return { stepId, seq, role, agent, ...task, ...noRecovery, environment, ...context };
}

/** The model's id. For a model named by a connector, it is prefixed by the API of its server: `messages/…` or `compatible/…`. */
async function modelForHarness(trx: Transaction, { orgId }: Run, agent: RunAgent): Promise<string> {
  const { model } = agent;
  if (providerNeeded(agent) !== namedModel(model)) return model;
  const [named] = await listNamedModels(orgId, model, trx);
  return `${named?.vendor === 'anthropic' ? 'messages' : 'compatible'}/${model}`;
}

/**
 * Starts the latest step of the run for the runtime that has now claimed the run. If this runtime has already started the step, returns the
 * running step. Another runtime may have started the step and abandoned it.
 */
async function openStep(trx: Transaction, run: Run, latest: RunStep): Promise<StepOrder> {
  const { leaseId } = run;
  const isOpen = latest.status === 'running' && latest.leaseId === leaseId;
  const step = isOpen ? latest : await beginStep(trx, latest, leaseId);
  const order = await orderOf(trx, run, step);
  // A replay starts over from the workspace before the step.
  if (order.replay) return { ...order, checkpoint: await checkpointBefore(trx, run, latest) };
  return { ...order, ...(await recover(trx, run, latest, latest.startedAt !== null && !isOpen)) };
}

/** The row of the next step (./chain.ts decides which agent works on it). */
export const newStep = (team: readonly RunAgent[], next: Next, steps: readonly RunStep[]): NewStep => {
  const { agent, round, prompt, continues } = next;
  const before = continues ? steps.findLast(({ role, sessionId }) => role === agent.role && sessionId !== null) : null;
  const hasSchema = isStructured(team, agent.role);
  return { agent, round, prompt, hasSchema, isRepeated: false, resumeSessionId: before?.sessionId ?? null };
};

type Waiting = Partial<Pick<Run, 'leaseUntil' | 'reason' | 'missionActivity' | 'nextTemplateId'>>;
type Ordered = { step: StepOrder } | { waiting: Waiting; ask: AskedQuestion | null };

/** Fills in the instance type and the limits that the start of the mission did not set, from the template of the first step. */
async function adoptTemplate(trx: Transaction, run: Run, template: SandboxTemplate | undefined): Promise<void> {
  if (!template) return;
  const names = ['instanceType', ...missionLimitNames] as const;
  const adopted = Object.fromEntries(names.map((name) => [name, run[name] ?? template[name]]));
  if (names.every((name) => run[name] === adopted[name])) return;
  Object.assign(run, adopted);
  await recordTemplateChoices(trx, run.id, run);
}

/** The step to work on, or why the run must keep waiting: for another runtime, or for the model's answer. */
export async function orderForClaim(
  trx: Transaction,
  run: Run,
  project: Project,
  prompt: string,
  offer: RuntimeOffer,
): Promise<Ordered> {
  const latest = await latestStepOf(trx, run.id);
  if (latest) return beginIn(trx, run, latest, offer);
  const canRun = await canRunWith(trx, run.orgId, offer);
  const choice = await chooseAgents(trx, run, project, prompt, canRun);
  if ('ask' in choice) {
    const reason = 'The orchestrator’s model is choosing agents for the task.';
    return { ask: choice.ask, waiting: { leaseUntil: choice.until, reason, missionActivity: 'Choosing the agents' } };
  }
  const { sandboxTemplateId } = run;
  const team = choice.team.map((agent) => ({ ...agent, ...(sandboxTemplateId !== null && { sandboxTemplateId }) }));
  const isScript = team[0]!.harness === 'shell';
  const task = isScript ? prompt : withIssue(prompt, run.id, run.issueText);
  const first = openingStep(team, { prompt: task, plan: null, branch: branchOf(run) });
  const written = await appendStep(trx, run, newStep(team, first, []), { team });
  if (!canRun(written)) return { ask: null, waiting: {} };
  return beginIn(trx, run, written, offer);
}

/**
 * Starts the step, if the runtime has all labels that the template of the step requires and is large enough for the instance type of the run.
 * Otherwise the run keeps waiting. If the mission started without an instance type, the template of the first step may set it.
 */
async function beginIn(trx: Transaction, run: Run, step: RunStep, offer: RuntimeOffer): Promise<Ordered> {
  const template = await templateOf(trx, run, step);
  if (run.sandboxMinutes === 0) await adoptTemplate(trx, run, template);
  if (template && missingIn(offer.labels, template.labels).length > 0) {
    const reason = `The next step needs a runtime with ${describeLabels(template.labels)}.`;
    return { ask: null, waiting: { reason, nextTemplateId: template.id } };
  }
  const type = run.instanceType;
  const types = typesWithin(offer);
  if (type && types && !types.includes(type)) return { ask: null, waiting: { reason: noRoomFor(type) } };
  return { step: await openStep(trx, run, step) };
}
