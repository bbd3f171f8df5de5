// What can be done with agents: list, read, create, change, delete. The built-in ones are in every organization and stay as
// they are. Agents belong to the whole organization, so a project-bound credential does not reach them.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Page, type PageRequest, readPageOf } from '#foundation/cursor.ts';
import { transaction } from '#foundation/database.ts';
import { isUniqueViolation } from '#foundation/database-errors.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { columnsOf, find, missing, snake } from '#foundation/record.ts';
import { builtinAgents, builtinSandboxTemplate, harnesses } from './catalog.ts';
import { Agent, type AgentRole, type Effort, type HarnessId } from './model.ts';

export type AgentRecord = Agent & { isBuiltin: boolean };

/** They came with the service, so they are the oldest of each list. */
const builtinSince = Date.UTC(2026, 0, 1);
const builtinPrefix = 'agn_builtin_';

const builtinsOf = (orgId: Id<'organization'>): AgentRecord[] =>
  builtinAgents.map(
    ({ key, sandboxTemplateKey, skillRepos, isFallback: _, ...agent }) =>
      ({
        ...agent,
        id: `${builtinPrefix}${key}`,
        orgId,
        effort: null,
        sandboxTemplateId: sandboxTemplateKey,
        skillRepos: [...skillRepos],
        createdAt: builtinSince,
        updatedAt: builtinSince,
        isBuiltin: true,
      }) as AgentRecord,
  );

const own = (agent: Agent): AgentRecord => ({ ...agent, isBuiltin: false }) as AgentRecord;

// One list of what is stored ($1: whose) and what stands in the catalog ($2), so that a page may hold both.
const columns = columnsOf(Agent);
const select = `select ${columns}, is_builtin from (
  select ${columns}, false as is_builtin from agents where org_id = $1
  union all select ${columns}, true from jsonb_populate_recordset(null::agents, $2::jsonb)) a`;

const asRow = (agent: AgentRecord) =>
  Object.fromEntries(Agent.columns.map((name) => [snake(name), agent[name as keyof Agent]]));

/** The organization's own, newest first, then the built-in ones. */
export async function listAgents(caller: Caller, page: PageRequest): Promise<Page<AgentRecord>> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const values = [orgId, JSON.stringify(builtinsOf(orgId).map(asRow))];
  return readPageOf<AgentRecord>({ binding: `agents\n${orgId}`, select, where: '', values }, page);
}

export async function findAgent(caller: Caller, agentId: string): Promise<AgentRecord> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const builtin = builtinsOf(orgId).find(({ id }) => id === agentId);
  return builtin ?? own(await find<Agent>(Agent, 'agent', { id: agentId, orgId }));
}

export interface SandboxChoice {
  kind: 'existing';
  templateId: string;
}

export interface NewAgent {
  name: string;
  role: AgentRole;
  harness: HarnessId;
  model: string;
  sandbox: SandboxChoice;
  effort?: Effort | null | undefined;
  userPrompt?: string | null | undefined;
  skillRepos?: string[] | undefined;
}

/** Creates an agent. 400 when harness and model do not fit or there is no such template, 409 when the name is taken. */
export async function createAgent(caller: Caller, input: NewAgent): Promise<AgentRecord> {
  beyondOneProject(caller);
  const { sandbox, ...given } = input;
  const at = now();
  const agent = {
    id: newId('agent'),
    orgId: ownOrganization(caller),
    effort: null,
    userPrompt: null,
    skillRepos: [],
    ...given,
    sandboxTemplateId: templateOf(sandbox),
    createdAt: at,
    updatedAt: at,
  } as unknown as Agent;
  refuseUnfit(agent);
  await Agent.query()
    .insert(agent)
    .catch((error) => nameTaken(error, input.name));
  return own(agent);
}

export type AgentChanges = { [K in keyof NewAgent]?: NewAgent[K] | undefined };

/** Changes an agent of one's own. What comes of it must fit as a new one would. */
export async function updateAgent(caller: Caller, agentId: string, changes: AgentChanges): Promise<AgentRecord> {
  beyondOneProject(caller);
  refuseBuiltin(agentId);
  const orgId = ownOrganization(caller);
  const { sandbox, ...plain } = changes;
  const patch = { ...plain, ...(sandbox && { sandboxTemplateId: templateOf(sandbox) }) } as Partial<Agent>;
  if (Object.keys(patch).length === 0) return findAgent(caller, agentId);
  return transaction(async (trx) => {
    // Held, so that a harness and a model that two callers change at once still fit each other.
    const agent = await Agent.query(trx).findOne({ id: agentId, orgId }).forUpdate();
    if (!agent) return missing('agent');
    const changed = { ...patch, updatedAt: now() };
    refuseUnfit({ ...agent, ...changed } as Agent);
    const stored = await Agent.query(trx)
      .patchAndFetchById(agentId, changed)
      .catch((error) => nameTaken(error, changes.name!));
    return own(stored);
  });
}

export async function deleteAgent(caller: Caller, agentId: string): Promise<{ ok: true; id: string }> {
  beyondOneProject(caller);
  refuseBuiltin(agentId);
  const deleted = await Agent.query()
    .delete()
    .where({ id: agentId, orgId: ownOrganization(caller) });
  return deleted ? { ok: true, id: agentId } : missing('agent');
}

/** The template that a choice names. Templates of one's own join here. */
function templateOf({ templateId }: SandboxChoice): string {
  if (templateId === builtinSandboxTemplate.key) return templateId;
  throw invalid(`sandbox.templateId: there is no such template; there is ${builtinSandboxTemplate.key}.`);
}

function refuseUnfit({ harness, model }: Agent): void {
  const { models } = harnesses.find(({ id }) => id === harness)!;
  if (models.some(({ id }) => id === model)) return;
  throw invalid(`model: must be one that ${harness} runs: ${models.map(({ id }) => id).join(', ')}.`);
}

function refuseBuiltin(agentId: string): void {
  if (!builtinAgents.some(({ key }) => agentId === `${builtinPrefix}${key}`)) return;
  throw conflict('This agent is built in and stays as it is: create one of your own with what you want changed.');
}

function nameTaken(error: unknown, name: string): never {
  if (!isUniqueViolation(error, 'agents_name')) throw error;
  throw conflict(`name: another agent of this organization is called ${JSON.stringify(name)} already.`);
}
