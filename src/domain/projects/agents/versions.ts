// Versions of an agent: each change of its settings is kept with its author and note.
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { Person } from '../../organization/people/model.ts';
import { versionsKept } from './bounds.ts';
import { Agent } from './model.ts';
import { AgentVersion } from './version-model.ts';

const settingNames = [
  'name',
  'role',
  'harness',
  'model',
  'effort',
  'sandboxTemplateId',
  'userPrompt',
  'skillRepos',
] as const;
export type AgentSettings = Pick<Agent, (typeof settingNames)[number]>;

export const settingsOf = (one: AgentSettings): AgentSettings =>
  Object.fromEntries(settingNames.map((name) => [name, one[name]])) as unknown as AgentSettings;

/** Settings that a trial may change; the name and role of the agent stay unchanged. */
export function triedSettingsOf(one: AgentSettings): Omit<AgentSettings, 'name' | 'role'> {
  const { name: _, role: __, ...tried } = settingsOf(one);
  return tried;
}

const sameSettings = (a: AgentSettings, b: AgentSettings): boolean => isDeepStrictEqual(settingsOf(a), settingsOf(b));

/** The version with this number. @throws 400 for the field `number` when the version does not exist */
export async function versionOf(
  trx: Transaction | undefined,
  { id: agentId }: Pick<Agent, 'id'>,
  number: number,
): Promise<AgentVersion> {
  const found = await AgentVersion.find({ agentId, number }, trx);
  if (!found) throw invalid.field('number', `must be one of the versions of the agent: ${number} is not`);
  return found;
}

// The current version and the version on trial are never deleted, however old they are.
const pruneSql = `delete from agent_versions v using agents a where v.agent_id = $1 and a.id = v.agent_id
  and v.number <= $2::integer - ${versionsKept} and v.number <> a.version and v.number is distinct from a.trial_version`;

/**
 * Stores the settings of the locked agent as its next version, unless the current version has the same settings. Returns the number of the
 * version.
 */
export async function recordVersion(
  trx: Transaction,
  caller: Pick<Caller, 'userId'> | null,
  agent: AgentSettings & Pick<Agent, 'id' | 'orgId' | 'version'>,
  note: string | null,
): Promise<number> {
  const { id: agentId, orgId } = agent;
  const [newest] = await AgentVersion.query(trx).where({ agentId }).orderBy('number', 'desc').limit(1);
  const present =
    newest?.number === agent.version ? newest : await AgentVersion.find({ agentId, number: agent.version }, trx);
  if (present && sameSettings(present, agent)) return agent.version;
  const number = (newest?.number ?? 0) + 1;
  const authorUserId = caller?.userId ?? null;
  const author = authorUserId && (await Person.get({ id: authorUserId })).name;
  const by = { note, authorUserId, author, createdAt: nowAfter(newest?.createdAt ?? 0) };
  await AgentVersion.insert(trx, { id: newId('agentVersion'), orgId, agentId, number, ...settingsOf(agent), ...by });
  await sql(pruneSql, [agentId, number], trx);
  return number;
}

/**
 * Returns the locked agent with the number of its current version. Settings that an earlier release of the service wrote without a version
 * are first stored as a version.
 */
export async function settleVersion(trx: Transaction, agent: Agent): Promise<Agent> {
  const version = await recordVersion(trx, null, agent, null);
  if (version !== agent.version) await Agent.patch(trx, { id: agent.id }, { version });
  return { ...agent, version };
}

/** The versions of an agent of the organization, newest first. A built-in agent has none. @throws 404 */
export async function listVersions(
  caller: Caller,
  { agentId, ...page }: PageRequest & { agentId: string },
): Promise<Page<AgentVersion>> {
  const { id } = await Agent.get({ id: agentId, orgId: wholeOrganization(caller) });
  return AgentVersion.page({ agentId: id }, page);
}
