// An agent: a role, a harness and a model under one name, and what it works in (specification, Agent and catalog). The words
// are described in the catalog.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export const agentRoles = ['planner', 'builder', 'reviewer', 'qa', 'researcher'] as const;
export type AgentRole = (typeof agentRoles)[number];
export const harnessIds = ['claude-code', 'codex', 'opencode', 'shell'] as const;
export type HarnessId = (typeof harnessIds)[number];
export const instanceTypeIds = ['lite', 'basic', 'standard-1', 'standard-2', 'standard-4'] as const;
export type InstanceTypeId = (typeof instanceTypeIds)[number];
/** How long the model may think; null leaves it to the harness. */
export const efforts = ['low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

export class Agent extends Stored {
  static override tableName = 'agents';
  static override columns = [
    'id',
    'orgId',
    'name',
    'role',
    'harness',
    'model',
    'effort',
    'sandboxTemplateId',
    'userPrompt',
    'skillRepos',
    'createdAt',
    'updatedAt',
  ];

  declare id: Id<'agent'>;
  declare orgId: Id<'organization'>;
  /** Unique in the organization, whatever the case of its letters. */
  declare name: string;
  declare role: AgentRole;
  declare harness: HarnessId;
  /** One of the harness's models. */
  declare model: string;
  declare effort: Effort | null;
  declare sandboxTemplateId: string;
  /** What it is told beside the issue. */
  declare userPrompt: string | null;
  /** `<owner>/<repo>` of repositories with skills that it may use. */
  declare skillRepos: string[];
  declare createdAt: number;
  declare updatedAt: number;
}
