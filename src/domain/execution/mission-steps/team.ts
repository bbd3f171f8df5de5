// Chooses the agents of a run. If the project has turned its team off, a builder works alone. Otherwise, a builder that uses a language model
// works with the planner, reviewer and QA agents of the organization whose harness a connected runtime offers. If no such agent has a
// role, a built-in agent takes the role, but only if the project has turned its team on. A project can also leave the team setting unset.
import type { Transaction } from '#foundation/postgres/database.ts';
import {
  type BuiltinAgent,
  builtinAgentId,
  builtinAgents,
  harnessOptionsOf,
  harnessOptionsWith,
} from '../../projects/agents/catalog.ts';
import { Agent, type AgentRole } from '../../projects/agents/model.ts';
import { type CanRun, canAnyRuntimeRun } from '../../projects/agents/runtime-harnesses.ts';
import { onBranch } from '../../projects/agents/trials.ts';
import type { Project } from '../../projects/projects/model.ts';
import { standardTemplateId } from '../../projects/sandbox-templates/settings.ts';
import { branchOf } from '../../work/runs/branch.ts';
import type { Run, RunAgent } from '../../work/runs/model.ts';

const order: readonly AgentRole[] = ['planner', 'builder', 'reviewer', 'qa'];

/**
 * Chooses the agents that work on the run, and returns them in the order of their first steps. A single agent works on the run if the run names
 * its agent, if the chosen agent is not a builder or has the harness `shell`, or if the project has no team.
 */
export async function chooseTeam(trx: Transaction, run: Run, project: Project, canRun: CanRun): Promise<RunAgent[]> {
  const lead = await chooseAgent(trx, run, project, canRun);
  if (run.agentId !== null || lead.role !== 'builder' || lead.harness === 'shell' || project.hasTeam === false)
    return [lead];
  const canAnyRun = await canAnyRuntimeRun(trx, run.orgId);
  const inOtherRoles = await Agent.query(trx)
    .where({ orgId: run.orgId })
    .whereIn('role', ['planner', 'reviewer', 'qa'])
    .whereNot({ harness: 'shell' })
    .orderBy(['createdAt', 'id']);
  const owned = inOtherRoles.filter(canAnyRun);
  // Among agents of one role, an agent that the claiming runtime can execute is preferred.
  const inRole = (role: AgentRole): Agent | undefined =>
    owned.find((one) => one.role === role && canRun(one)) ?? owned.find((one) => one.role === role);
  const team: RunAgent[] = [];
  for (const role of order) {
    const agent = inRole(role);
    if (role === 'builder') team.push(lead);
    else if (agent) team.push(await asRunAgent(trx, run, agent, project, canAnyRun));
    else if (project.hasTeam) team.push(...builtinIn(role));
  }
  return team;

  function builtinIn(role: AgentRole): RunAgent[] {
    const one = builtinAgents.find((each) => each.role === role)!;
    const way = harnessOptionsOf(one).find(canRun) ?? harnessOptionsOf(one).find(canAnyRun);
    return way ? [asBuiltinRunAgent({ ...one, ...way }, project)] : [];
  }
}

/**
 * The agent that the run names. Otherwise builders are preferred to other roles, and the organization's own agents to built-in ones; the
 * built-in agent that runs scripts is never chosen.
 */
async function chooseAgent(trx: Transaction, run: Run, project: Project, canRun: CanRun): Promise<RunAgent> {
  const withModel = run.agentModel === null ? null : await agentWithModel(trx, run, run.agentModel, project, canRun);
  if (withModel) return withModel;
  const owned = (await Agent.query(trx).where({ orgId: project.orgId }).orderBy(['createdAt', 'id'])).filter(canRun);
  const builtin = builtinAgents.flatMap((one) => {
    const way = harnessOptionsOf(one).find(canRun);
    return way ? [{ ...one, ...way }] : [];
  });
  const candidates = [...owned, ...builtin].filter(({ harness }) => harness !== 'shell');
  const agent =
    owned.find(({ id }) => id === run.agentId) ??
    builtin.find((one) => builtinAgentId(one) === run.agentId) ??
    candidates.find(({ role }) => role === 'builder') ??
    candidates[0]!;
  if (agent instanceof Agent) return asRunAgent(trx, run, agent, project, canRun);
  return asBuiltinRunAgent(agent, project);
}

/**
 * Returns the agent of the run, with the model that this attempt uses instead of the agent's own. A version of the agent that is on trial is
 * not used. Returns null if the agent was deleted.
 */
async function agentWithModel(
  trx: Transaction,
  run: Run,
  model: string,
  project: Project,
  canRun: CanRun,
): Promise<RunAgent | null> {
  const builtin = builtinAgents.find((one) => builtinAgentId(one) === run.agentId);
  if (!builtin) {
    const agent = await Agent.query(trx).findOne({ id: run.agentId, orgId: run.orgId });
    return agent ? withSettings({ ...agent, model }, project) : null;
  }
  const ways = harnessOptionsWith(builtin, model);
  const canAnyRun = await canAnyRuntimeRun(trx, run.orgId);
  const way = ways.find(canRun) ?? ways.find(canAnyRun) ?? ways[0]!;
  return asBuiltinRunAgent({ ...builtin, ...way }, project);
}

function asBuiltinRunAgent(agent: BuiltinAgent, project: Project): RunAgent {
  const { name, role, harness, model, userPrompt, sandboxTemplateKey, skillRepos } = agent;
  const sandboxTemplateId = templateFor(sandboxTemplateKey, project);
  const agentFields = { name, role, harness, model, userPrompt, sandboxTemplateId };
  return { ...agentFields, agentId: null, version: null, effort: null, skillRepos: [...skillRepos] };
}

/** The agent's own template if it has chosen one, else the project's. */
const templateFor = (ofAgent: string, { defaultSandboxTemplateId }: Project): string =>
  ofAgent === standardTemplateId ? (defaultSandboxTemplateId ?? ofAgent) : ofAgent;

/** Sorts the agents by the order of their first steps. */
export const inOrder = (agents: readonly Agent[]): Agent[] =>
  [...agents].sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));

/** The agent with the settings of the version that the run's branch selects. */
export async function asRunAgent(
  trx: Transaction,
  run: Run,
  agent: Agent,
  project: Project,
  canRun: CanRun,
): Promise<RunAgent> {
  return withSettings(await onBranch(trx, agent, branchOf(run), canRun), project);
}

function withSettings(agent: Agent, project: Project): RunAgent {
  const { id: agentId, name, role, harness, model, effort, userPrompt, skillRepos, version } = agent;
  const sandboxTemplateId = templateFor(agent.sandboxTemplateId, project);
  return { agentId, version, name, role, harness, model, effort, userPrompt, skillRepos, sandboxTemplateId };
}
