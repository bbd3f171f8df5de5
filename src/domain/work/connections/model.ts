// Connections of a run: which hosts its environment and its agents asked for, and what became of it.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

/** `setup` prepares the environment, `agent` is all that follows. */
export const connectionPhases = ['setup', 'agent'] as const;
export type ConnectionPhase = (typeof connectionPhases)[number];
export const connectionVerdicts = ['allowed', 'blocked', 'not_public', 'unknown_host', 'failed'] as const;
export type ConnectionVerdict = (typeof connectionVerdicts)[number];

export class Connection extends BaseModel {
  static override tableName = 'connections';
  static override noun = 'connection';
  static override idColumn = ['runId', 'host', 'port', 'phase', 'verdict'];
  static override order =
    `"verdict" <> 'blocked', "verdict" = 'allowed', "count" desc, "host", "port", "phase", "verdict"`;
  static override columns = [
    'runId',
    'orgId',
    'projectId',
    'templateId',
    'host',
    'port',
    'phase',
    'verdict',
    'count',
    'sentBytes',
    'receivedBytes',
    'createdAt',
    'updatedAt',
  ];
  static visibleTo = withinReach;

  declare runId: Run['id'];
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** Step that was worked on when the connection was first reported. */
  declare templateId: string;
  declare host: string;
  declare port: number;
  declare phase: ConnectionPhase;
  declare verdict: ConnectionVerdict;
  declare count: number;
  declare sentBytes: number;
  declare receivedBytes: number;
  declare createdAt: number;
  declare updatedAt: number;
}
