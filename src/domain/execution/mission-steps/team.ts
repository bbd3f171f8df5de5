// The agents of a run. A builder with a model works with planner, reviewer and QA agents: the organization's own, for harnesses that
// connected runtimes offer, and the built-in ones if the project has turned its team on. It works without them if the project has turned
// its team off.
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { type BuiltinAgent, builtinAgentId, builtinAgents, waysOf } from '../../projects/agents/catalog.ts';
import { Agent, type AgentRole } from '../../projects/agents/model.ts';
import { type CanRun, canAnyRuntimeRun } from '../../projects/agents/runtime-harnesses.ts';
import type { Project } from '../../projects/projects/model.ts';
import { standardTemplateId } from '../../projects/sandbox-templates/settings.ts';
import type { Run, RunAgent } from '../../work/runs/model.ts';

const order: readonly AgentRole[] = ['planner', 'builder', 'reviewer', 'qa'];

/** The agents in the order of their first steps: a single one for a run that names its agent, and for the shell. */
export async function chooseTeam(
  trx: Transaction,
  run: Run,
  project: Row<Project>,
  canRun: CanRun,
): Promise<RunAgent[]> {
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
  // Prefers an agent of the role that the claiming runtime can execute.
  const inRole = (role: AgentRole): Agent | undefined =>
    owned.find((one) => one.role === role && canRun(one)) ?? owned.find((one) => one.role === role);
  return order.flatMap((role) => {
    if (role === 'builder') return [lead];
    const agent = inRole(role);
    if (agent) return [asRunAgent(agent, project)];
    const builtin = project.hasTeam ? builtinIn(role) : undefined;
    return builtin ? [builtin] : [];
  });

  function builtinIn(role: AgentRole): RunAgent | undefined {
    const one = builtinAgents.find((each) => each.role === role)!;
    const way = waysOf(one).find(canRun) ?? waysOf(one).find(canAnyRun);
    return way && asBuiltinRunAgent({ ...one, ...way }, project);
  }
}

/**
 * The agent named by the run; else a builder before the other roles, the organization's own before the built-in ones, and never the shell.
 */
async function chooseAgent(
  trx: Transaction,
  { agentId: named }: Run,
  project: Row<Project>,
  canRun: CanRun,
): Promise<RunAgent> {
  const owned = (await Agent.query(trx).where({ orgId: project.orgId }).orderBy(['createdAt', 'id'])).filter(canRun);
  const builtin = builtinAgents.flatMap((one) => {
    const way = waysOf(one).find(canRun);
    return way ? [{ ...one, ...way }] : [];
  });
  const candidates = [...owned, ...builtin].filter(({ harness }) => harness !== 'shell');
  const agent =
    owned.find(({ id }) => id === named) ??
    builtin.find((one) => builtinAgentId(one) === named) ??
    candidates.find(({ role }) => role === 'builder') ??
    candidates[0]!;
  if (agent instanceof Agent) return asRunAgent(agent, project);
  return asBuiltinRunAgent(agent, project);
}

function asBuiltinRunAgent(agent: BuiltinAgent, project: Row<Project>): RunAgent {
  const { name, role, harness, model, userPrompt, sandboxTemplateKey, skillRepos } = agent;
  const sandboxTemplateId = templateFor(sandboxTemplateKey, project);
  const agentFields = { name, role, harness, model, userPrompt, sandboxTemplateId };
  return { ...agentFields, agentId: null, effort: null, skillRepos: [...skillRepos] };
}

/** The agent's own template if it has chosen one, else the project's. */
const templateFor = (ofAgent: string, { defaultSandboxTemplateId }: Row<Project>): string =>
  ofAgent === standardTemplateId ? (defaultSandboxTemplateId ?? ofAgent) : ofAgent;

/** Sorts the agents by the order of their first steps. */
export const inOrder = (agents: readonly Agent[]): Agent[] =>
  [...agents].sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));

export const asRunAgent = (agent: Agent, project: Row<Project>): RunAgent => {
  const { id: agentId, name, role, harness, model, effort, userPrompt, skillRepos } = agent;
  const sandboxTemplateId = templateFor(agent.sandboxTemplateId, project);
  return { agentId, name, role, harness, model, effort, userPrompt, skillRepos, sandboxTemplateId };
};
