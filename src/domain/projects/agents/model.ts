// An agent: a role, a harness and a model under one name, with the sandbox template it runs in (docs/contract.md#agents).

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { columnsOf, type Source } from '#foundation/postgres/reads.ts';
import { Organization } from '../../organization/organizations/model.ts';

export const agentRoles = ['planner', 'builder', 'reviewer', 'qa', 'researcher'] as const;
export type AgentRole = (typeof agentRoles)[number];
export const harnessIds = ['claude-code', 'codex', 'opencode', 'acp', 'shell'] as const;
export type HarnessId = (typeof harnessIds)[number];
/** The model's reasoning effort; null means the default of the harness. */
export const efforts = ['low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

/** The settings of an agent, of which each version keeps a copy. */
export const settingColumns = {
  /** The name: unique in the organization, ignoring case. */
  name: column<string>(),
  role: column<AgentRole>(),
  harness: column<HarnessId>(),
  /** The model, which the harness must support. */
  model: column<string>(),
  effort: column<Effort | null>(),
  sandboxTemplateId: column<string>(),
  /** Instructions to the agent in addition to the issue. */
  userPrompt: column<string | null>(),
  /** Repositories with skills that are available to the agent, each `<owner>/<repo>`. */
  skillRepos: column<string[]>(),
};

export class Agent extends table('agents', {
  id: column<Id<'agent'>>(),
  orgId: column<Id<'organization'>>(),
  ...settingColumns,
  createdAt: column<number>(),
  updatedAt: column<number>(),
  /** Number of the agent's current version. */
  version: column<number>(),
  /** The version on trial, and the percentage of missions that use it; both null without a trial. */
  trialVersion: column<number | null>(),
  trialPercent: column<number | null>(),
}) {
  static override noun = 'agent';

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  /** Only the organization's own agents are stored; the built-in ones are in the catalog. */
  static override source(): Source {
    return { select: `select ${columnsOf(this)}, false as is_builtin from agents`, conditions: [], values: [] };
  }

  /** Whether the agent is in the catalog; computed. */
  declare isBuiltin: boolean;
}
