// Trials of agents: a share of an agent's missions uses another version until that version is adopted or dropped.
import { createHash } from 'node:crypto';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject } from '#access/reach.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import type { Agent } from './model.ts';
import { type AgentChanges, type AgentRecord, changedSettings, lockAgent, writeAgent } from './operations.ts';
import type { CanRun } from './runtime-harnesses.ts';
import { AgentVersion } from './version-model.ts';
import { recordVersion, settingsOf, triedSettingsOf, versionOf } from './versions.ts';

export interface NewTrial {
  /** Percentage of the agent's missions that use the version on trial. */
  percent: number;
  /** Changes to the agent's settings, which are stored as a new version; absent if `number` is present. */
  changes?: Omit<AgentChanges, 'name' | 'role'> | null | undefined;
  /** Number of an existing version to try; absent if `changes` is present. */
  number?: number | null | undefined;
  note?: string | null | undefined;
}

/**
 * Starts a trial, in which a share of the agent's missions uses another version. An earlier trial is replaced.
 * @throws 400 if the request has both changes and a version number, or neither of them; 400 if the version is the agent's current version;
 * 404; 409 for a built-in agent
 */
export async function startTrial(caller: Caller, agentId: string, input: NewTrial): Promise<AgentRecord> {
  beyondOneProject(caller);
  const { percent, changes, number, note = null } = input;
  if ((changes == null) === (number == null))
    throw invalid.field('number', 'is required unless `changes` is present; only one of the two is allowed');
  return transaction(async (trx) => {
    const agent = await lockAgent(trx, caller, agentId);
    const trialVersion = changes
      ? await recordVersion(trx, caller, { ...agent, ...(await changedSettings(trx, agent, changes)) }, note)
      : (await versionOf(trx, agent, number!)).number;
    if (trialVersion === agent.version)
      throw invalid.field(
        changes ? 'changes' : 'number',
        `must differ from the current version of the agent, which is ${agent.version}`,
      );
    return writeAgent(trx, agent, { trialVersion, trialPercent: percent });
  });
}

/** Ends the trial. With `promote`, the agent gets the tried settings. @throws 404, 409 without a trial */
export async function endTrial(caller: Caller, agentId: string, promote: boolean): Promise<AgentRecord> {
  beyondOneProject(caller);
  return transaction(async (trx) => {
    const agent = await lockAgent(trx, caller, agentId);
    const { trialVersion } = agent;
    if (trialVersion === null) throw conflict('The agent has no trial.');
    const ended = { trialVersion: null, trialPercent: null };
    if (!promote) return writeAgent(trx, agent, ended);
    const settings = { ...settingsOf(agent), ...triedSettingsOf(await versionOf(trx, agent, trialVersion)) };
    const version = await recordVersion(trx, caller, { ...agent, ...settings, version: trialVersion }, null);
    return writeAgent(trx, agent, { ...settings, ...ended, version });
  });
}

/** A number from 0 to 99 that is the same for all runs on one branch. */
const drawOf = (agentId: string, branch: string): number =>
  createHash('sha256').update(`${agentId} ${branch}`).digest().readUInt32BE() % 100;

/** The agent with the settings that apply to the branch. On a share of the branches these are the settings on trial, if `canRun` accepts them. */
export async function onBranch(trx: Transaction, agent: Agent, branch: string, canRun: CanRun): Promise<Agent> {
  const { id: agentId, trialVersion: number, trialPercent } = agent;
  if (number === null || drawOf(agentId, branch) >= trialPercent!) return agent;
  const tried = await AgentVersion.find({ agentId, number }, trx);
  if (!tried || !canRun(tried)) return agent;
  return { ...agent, ...triedSettingsOf(tried), version: number };
}
