// Operations on agents: list, read, create, update, delete. The built-in ones exist in every organization and cannot be changed. Agents
// belong to the whole organization, so a project-bound credential cannot reach them.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Page, type PageRequest, readPageOf } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { builtinRows, withBuiltinsSql } from '#foundation/postgres/reads.ts';
import { conflict, refuseChanged } from '#foundation/problem.ts';
import { maxUsesShown } from '../sandbox-templates/bounds.ts';
import { lockTemplateOf, type TemplateUse } from '../sandbox-templates/operations.ts';
import { builtinAgentId, builtinAgents } from './catalog.ts';
import { Agent, type AgentRole, type Effort, type HarnessId } from './model.ts';
import { requireSupportedModel } from './models.ts';
import { type AgentSettings, recordVersion, settingsOf, settleVersion, versionOf } from './versions.ts';

export type AgentRecord = Agent;

/** Creation time of the built-in agents: earlier than that of any other agent, so that they come last in a list. */
const builtinSince = Date.UTC(2026, 0, 1);

const builtinsOf = (orgId: Id<'organization'>): AgentRecord[] =>
  builtinAgents.map(
    ({ key, sandboxTemplateKey, skillRepos, ...agent }) =>
      ({
        ...agent,
        id: builtinAgentId({ key }),
        orgId,
        effort: null,
        sandboxTemplateId: sandboxTemplateKey,
        skillRepos: [...skillRepos],
        createdAt: builtinSince,
        updatedAt: builtinSince,
        version: 1,
        trialVersion: null,
        trialPercent: null,
        isBuiltin: true,
      }) as AgentRecord,
  );

const selectAgentsSql = withBuiltinsSql(Agent);

/** The organization's own agents, newest first, then the built-in ones. */
export async function listAgents(
  caller: Caller,
  { role, ...page }: PageRequest & { role?: AgentRole | null | undefined },
): Promise<Page<AgentRecord>> {
  const orgId = wholeOrganization(caller);
  const values = [orgId, builtinRows(Agent, builtinsOf(orgId)), ...(role ? [role] : [])];
  const where = role ? ' where role = $3' : '';
  const binding = JSON.stringify(['agents', orgId, role]);
  return readPageOf<AgentRecord>({ binding, select: selectAgentsSql, where, values }, page);
}

export async function findAgent(caller: Caller, agentId: string): Promise<AgentRecord> {
  const orgId = wholeOrganization(caller);
  const builtin = builtinsOf(orgId).find(({ id }) => id === agentId);
  return builtin ?? Agent.get({ id: agentId, orgId });
}

/** The existing agents among these ids; empty for a project-bound credential. */
export async function findAgents(caller: Caller, ids: readonly string[]): Promise<AgentRecord[]> {
  if (caller.projectId !== null) return [];
  const orgId = ownOrganization(caller);
  const builtin = builtinsOf(orgId).filter(({ id }) => ids.includes(id));
  return [...builtin, ...(await Agent.findByKeys('id', ids, { orgId }))];
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

/** Creates an agent. @throws 400 for an unknown template or a model that the harness does not support, 409 for a name in use */
export async function createAgent(caller: Caller, input: NewAgent): Promise<AgentRecord> {
  beyondOneProject(caller);
  const { sandbox, ...settings } = input;
  const at = now();
  const agent = {
    id: newId('agent'),
    orgId: ownOrganization(caller),
    effort: null,
    userPrompt: null,
    skillRepos: [],
    ...settings,
    sandboxTemplateId: sandbox.templateId,
    createdAt: at,
    updatedAt: at,
    version: 1,
    trialVersion: null,
    trialPercent: null,
  };
  await transaction(async (trx) => {
    await requireSupportedModel(trx, agent);
    await lockTemplateOf(trx, agent.orgId, templateField, sandbox.templateId);
    await Agent.query(trx)
      .insert(agent)
      .catch((error) => nameTaken(error, input.name));
    await recordVersion(trx, caller, agent, null);
  });
  return { ...agent, isBuiltin: false };
}

export type AgentChanges = { [K in keyof NewAgent]?: NewAgent[K] | undefined };

export interface ChangeOptions {
  ifUpdatedAt?: number | null | undefined;
  /** Reason why the agent is changed; kept with the version. */
  note?: string | null | undefined;
}

/**
 * Updates an agent of the organization. Changed settings become its next version. After a change of model or harness, the harness must
 * support the model. @throws as `createAgent`; 404; 409 for a built-in agent
 */
export async function updateAgent(
  caller: Caller,
  agentId: string,
  changes: AgentChanges,
  { ifUpdatedAt, note = null }: ChangeOptions = {},
): Promise<AgentRecord> {
  beyondOneProject(caller);
  refuseBuiltin(agentId);
  if (Object.keys(changes).length === 0) return findAgent(caller, agentId);
  return transaction(async (trx) => {
    const agent = await lockAgent(trx, caller, agentId);
    refuseChanged(agent, ifUpdatedAt);
    const settings = await changedSettings(trx, agent, changes);
    const version = await recordVersion(trx, caller, { ...agent, ...settings }, note);
    return writeAgent(trx, agent, { ...settings, version });
  });
}

/** Gives an agent the settings of an earlier version, as its next version. @throws as `updateAgent` */
export async function restoreAgentVersion(
  caller: Caller,
  agentId: string,
  { number, note }: { number: number; note?: string | null | undefined },
): Promise<AgentRecord> {
  beyondOneProject(caller);
  return transaction(async (trx) => {
    const agent = await lockAgent(trx, caller, agentId);
    const { sandboxTemplateId, ...rest } = settingsOf(await versionOf(trx, agent, number));
    const sandbox = { kind: 'existing', templateId: sandboxTemplateId } as const;
    const settings = await changedSettings(trx, agent, { ...rest, sandbox });
    const said = note ?? `Version ${number} again.`;
    const version = await recordVersion(trx, caller, { ...agent, ...settings }, said);
    return writeAgent(trx, agent, { ...settings, version });
  });
}

/** Locks an agent of the organization. If its current settings have no version yet, one is recorded. @throws 404, 409 for a built-in agent */
export async function lockAgent(trx: Transaction, caller: Caller, agentId: string): Promise<Agent> {
  refuseBuiltin(agentId);
  const agent = await Agent.lock(trx, { id: agentId as Agent['id'], orgId: ownOrganization(caller) });
  return agent ? settleVersion(trx, agent) : Agent.refuse();
}

/**
 * The settings of the agent with the changes. @throws 400 for an unknown template, and for a harness and a model that do not match
 */
export async function changedSettings(
  trx: Transaction,
  agent: Agent,
  { sandbox, ...plain }: AgentChanges,
): Promise<AgentSettings> {
  if (sandbox) await lockTemplateOf(trx, agent.orgId, templateField, sandbox.templateId);
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  const changed = { ...agent, ...given, ...(sandbox && { sandboxTemplateId: sandbox.templateId }) };
  // An agent may keep a model that was removed from the catalog.
  if (changed.harness !== agent.harness || changed.model !== agent.model) await requireSupportedModel(trx, changed);
  return settingsOf(changed);
}

/** Stores the changes of an agent that the caller has locked. @throws 409 if another agent already has the new name */
export async function writeAgent(trx: Transaction, agent: Agent, changes: Partial<Agent>): Promise<AgentRecord> {
  const changed = { ...changes, updatedAt: nowAfter(agent.updatedAt) };
  await Agent.patch(trx, { id: agent.id }, changed).catch((error) => nameTaken(error, changes.name!));
  return { ...agent, ...changed, isBuiltin: false };
}

export async function deleteAgent(caller: Caller, agentId: string): Promise<{ ok: true; id: string }> {
  beyondOneProject(caller);
  refuseBuiltin(agentId);
  const deleted = await Agent.query()
    .delete()
    .where({ id: agentId, orgId: ownOrganization(caller) });
  return deleted ? { ok: true, id: agentId } : Agent.refuse();
}

/** Prevents the deletion of an agent of the organization until the transaction ends. @throws 404, except for a built-in agent */
export async function lockAgentOf(
  trx: Transaction,
  orgId: Agent['orgId'],
  agentId: string,
): Promise<Pick<Agent, 'name' | 'harness'>> {
  const builtin = builtinAgents.find((one) => agentId === builtinAgentId(one));
  if (builtin) return builtin;
  const agent = await Agent.query(trx).select('name', 'harness').findOne({ id: agentId, orgId }).forKeyShare();
  return agent ?? Agent.refuse();
}

const withTemplatesSql = `select t.id as template_id, a.id, a.name from unnest($2::text[]) t(id) cross join lateral
  (select id, name from agents where org_id = $1 and sandbox_template_id = t.id order by name, id limit ${maxUsesShown}) a`;

/** The organization's own agents that use one of the templates, sorted by name; at most `shownUses` for each template. */
export const agentsWithTemplates = (orgId: string, ids: readonly string[], trx?: Transaction) =>
  sql<TemplateUse>(withTemplatesSql, [orgId, ids], trx);

const isBuiltin = (agentId: string): boolean => builtinAgents.some((builtin) => agentId === builtinAgentId(builtin));

const templateField = 'sandbox.templateId';

function refuseBuiltin(agentId: string): void {
  if (!isBuiltin(agentId)) return;
  throw conflict('A built-in agent cannot be changed: create one of your own instead.');
}

function nameTaken(error: unknown, name: string): never {
  if (!isUniqueViolation(error, 'agents_name')) throw error;
  throw conflict.field('name', `another agent of this organization already has the name ${JSON.stringify(name)}`);
}
