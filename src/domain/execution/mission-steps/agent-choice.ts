// Chooses the agents of a run, either by asking the orchestrator's model one question or by rules about roles and harnesses. The model is
// asked outside transactions while the run waits, so that no other run is delayed: `chooseAgents` writes the question in the transaction
// of a claim, `ask` sends it afterwards, and a later claim uses the answer. If the process dies, the question expires at its deadline.

import { now, seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { Agent } from '../../projects/agents/model.ts';
import { type CanRun, canAnyRuntimeRun } from '../../projects/agents/runtime-harnesses.ts';
import { Integration } from '../../projects/integrations/model.ts';
import type { Project } from '../../projects/projects/model.ts';
import { askModel, maxAnswerTokens, type Question, type Reply } from '../../projects/vendors/ask-model.ts';
import { readMoneyLeft } from '../../work/budgets/money-left.ts';
import { countCost } from '../../work/mission-costs/count.ts';
import { endModelCall, insertModelCall } from '../../work/mission-costs/model-calls.ts';
import { costOfTokens, highestPrice, priceThrough } from '../../work/mission-costs/prices.ts';
import { inferenceSettings } from '../../work/orchestrator/operations.ts';
import { markCostIncomplete } from '../../work/runs/cost.ts';
import { recordAgentChoice } from '../../work/runs/decisions.ts';
import { lockRun } from '../../work/runs/lock.ts';
import type { AgentChoice, Run, RunAgent } from '../../work/runs/model.ts';
import { isWaiting } from '../../work/runs/states.ts';
import { questionAbout, readChoice } from './agent-question.ts';
import { asRunAgent, chooseTeam, inOrder } from './team.ts';

/** How long a run waits for the answer; longer than the time limit of the request (`answerTimeoutMs`). */
const deadlineMs = seconds(30);
/** Maximum number of concurrent questions per process; beyond it, the rules decide. */
const atOnce = 20;
const agentsShown = 50;

export interface AskedQuestion {
  runId: Run['id'];
  connectorId: Integration['id'];
  question: Question;
  /** Ids of the agents from which the model may choose. */
  agentIds: readonly string[];
}

/**
 * Either the chosen team, or a question to a language model about which agents to choose. The caller sends the question after its transaction
 * has ended. Until the time `until`, no other claim gets the run, so that the model has time to answer.
 */
export type Choice = { team: RunAgent[] } | { ask: AskedQuestion; until: number };

const unasked = { askedAt: null, model: null, agents: [], tokens: null, costUsd: 0 };

/** Chooses the agents of a run that a claim has locked and that has no step yet. */
export async function chooseAgents(
  trx: Transaction,
  run: Run,
  project: Project,
  prompt: string,
  canRun: CanRun,
): Promise<Choice> {
  const before = run.agentChoice;
  const keep = (choice: AgentChoice) => recordAgentChoice(trx, run.id, choice);
  const byRules = async (choice: AgentChoice): Promise<Choice> => {
    await keep(choice);
    return { team: await chooseTeam(trx, run, project, canRun) };
  };
  if (before?.way === 'rules') return { team: await chooseTeam(trx, run, project, canRun) };
  if (before?.way === 'model') {
    const team = await teamOf(trx, run, project, before.agents, canRun);
    if (team) return { team };
    return byRules({ ...before, way: 'rules', reason: 'An agent that the model has chosen no longer exists.' });
  }
  if (before) {
    await markCostIncomplete(trx, run.id);
    return byRules({ ...before, way: 'rules', reason: 'The model did not answer in time.' });
  }
  const asked = await questionFor(trx, run, project, prompt);
  if (typeof asked === 'string') return byRules({ ...unasked, way: 'rules', reason: asked });
  const { model } = asked.question;
  await keep({ ...unasked, way: 'asked', reason: 'The model is being asked.', askedAt: now(), model });
  return { ask: asked, until: now() + deadlineMs };
}

/** The question, or the reason why no question is asked. */
async function questionFor(
  trx: Transaction,
  run: Run,
  project: Project,
  prompt: string,
): Promise<AskedQuestion | string> {
  if (run.agentId !== null) return 'The mission names its agent.';
  if (project.hasTeam !== null) return 'The team setting of the project decides.';
  const { inferenceEnabled, llmConnectorId: id, model, vendor } = await inferenceSettings(trx, run.orgId);
  if (!inferenceEnabled) return 'The orchestrator is not allowed to ask its model, because inferenceEnabled is false.';
  if (id === null) return 'The orchestrator has no model connector.';
  const connector = await Integration.find({ id, vendor, hasCredentials: true }, trx);
  if (!connector) return 'The model connector of the orchestrator has no key for its model.';
  const canAnyRun = await canAnyRuntimeRun(trx, run.orgId);
  const owned = await Agent.query(trx)
    .where({ orgId: run.orgId })
    .whereNot({ harness: 'shell' })
    .orderBy(['createdAt', 'id']);
  const agents = owned.filter(canAnyRun).slice(0, agentsShown);
  if (agents.length < 2) return 'The organization has fewer than two agents of its own to choose from.';
  if (runningQuestions.size >= atOnce) return 'Too many model calls are in progress.';
  const agentIds = agents.map((agent) => agent.id);
  const question = questionAbout(model, agents, prompt);
  if (!(await reserve(trx, run, connector, question)))
    return 'The limits of the mission leave too little to ask the model.';
  return { runId: run.id, connectorId: connector.id, question, agentIds };
}

/** The id under which the cost of the question is reserved. */
const callId = 'agent choice';
/** Maximum number of tokens that a vendor adds to a question, for example for instructions about tools. */
const addedTokens = 1_000;

/** Reserves the highest possible price of the question. Returns false when the mission's limits leave less than that price. */
async function reserve(trx: Transaction, run: Run, connector: Integration, question: Question): Promise<boolean> {
  const { id: runId, orgId } = run;
  const price = priceThrough([connector], question.model);
  if (!price) return false;
  // The number of bytes is an upper bound of the number of tokens.
  const inputTokens = Buffer.byteLength(JSON.stringify(question)) + addedTokens;
  const amount = highestPrice(price, inputTokens, maxAnswerTokens);
  await lockOrganization(trx, orgId);
  const { left } = await readMoneyLeft(trx, run, amount);
  if (left < amount) return false;
  await insertModelCall(trx, { runId, callId, orgId, amount, outputTokens: maxAnswerTokens, price });
  return true;
}

/** Returns the agents in the order of their first steps; returns null if any of the agents was deleted. */
async function teamOf(
  trx: Transaction,
  run: Run,
  project: Project,
  ids: readonly string[],
  canRun: CanRun,
): Promise<RunAgent[] | null> {
  const agents = await Agent.query(trx)
    .where({ orgId: project.orgId })
    .whereIn('id', [...ids]);
  if (agents.length < ids.length) return null;
  const team: RunAgent[] = [];
  for (const agent of inOrder(agents)) team.push(await asRunAgent(trx, run, agent, project, canRun));
  return team;
}

const runningQuestions = new Set<Promise<void>>();

/** Sends the question in the background; after a failure, the rules decide. */
export function ask(asked: AskedQuestion): void {
  const work: Promise<void> = answer(asked)
    .catch(() => settle(asked, { value: undefined, failure: 'The model call failed.', tokens: null }))
    // An error while storing the answer is ignored: the question then expires at its deadline.
    .catch(() => {})
    .finally(() => runningQuestions.delete(work));
  runningQuestions.add(work);
}

/** Resolves when this process has no pending question. */
export async function answersSettled(): Promise<void> {
  while (runningQuestions.size > 0) await Promise.all(runningQuestions);
}

async function answer(asked: AskedQuestion): Promise<void> {
  const connector = await Integration.find({ id: asked.connectorId });
  const reply: Reply = connector
    ? await askModel(connector, asked.question)
    : { value: undefined, failure: 'The model connector was deleted.', tokens: null };
  await settle(asked, reply);
}

/** Stores the answer and counts its cost. A late answer has no effect, but its cost counts. */
async function settle({ runId, connectorId, question, agentIds }: AskedQuestion, reply: Reply): Promise<void> {
  const { value, failure, tokens } = reply;
  await transaction(async (trx) => {
    const run = await lockRun(trx, { id: runId });
    if (!run?.agentChoice || run.agentChoice.tokens) return;
    // Without token counts the price is unknown, although the vendor may have charged for the question, so the cost of the run is marked as
    // incomplete.
    const reserved = tokens ? await endModelCall(trx, runId, callId) : undefined;
    const connector = await Integration.find({ id: connectorId }, trx);
    const price = reserved?.price ?? priceThrough(connector ? [connector] : [], question.model);
    const costUsd = tokens && price ? costOfTokens(tokens, price) : 0;
    if (!tokens || !price) await markCostIncomplete(trx, runId);
    const known = { ...run.agentChoice, tokens, costUsd };
    const isOpen = run.agentChoice.way === 'asked';
    const read =
      failure === null ? readChoice(value, await Agent.query(trx).whereIn('id', [...agentIds])) : { failure };
    const decided: Pick<AgentChoice, 'way' | 'reason' | 'agents'> =
      'failure' in read
        ? { way: 'rules', reason: read.failure, agents: [] }
        : { way: 'model', reason: read.reason, agents: read.agentIds };
    const choice: AgentChoice = isOpen ? { ...known, ...decided } : known;
    const isUnclaimed = isOpen && isWaiting(run) && run.leaseId === null;
    await recordAgentChoice(trx, runId, choice, isUnclaimed);
    if (costUsd > 0) await countCost(trx, run, { costId: 'agent choice', usd: costUsd });
    await announce(trx, runId);
  });
}
