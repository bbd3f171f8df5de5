// Preparation of an environment: what the runtime of a run did so that its agents found one, for a template, a commit and its lock files.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Run } from '../runs/model.ts';

export const preparationStatuses = ['preparing', 'ready', 'failed'] as const;
export type PreparationStatus = (typeof preparationStatuses)[number];

export class Preparation extends BaseModel {
  static override tableName = 'preparations';
  static override noun = 'preparation';
  static override order = '"created_at", "id"';
  static override columns = [
    'id',
    'runId',
    'orgId',
    'projectId',
    'templateId',
    'key',
    'commit',
    'status',
    'lastLines',
    'seconds',
    'bytes',
    'createdAt',
    'updatedAt',
  ];
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'preparations');
  }

  declare id: Id<'preparation'>;
  declare runId: Run['id'];
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare templateId: string;
  /** The runtime's own: the same key means the same prepared environment. */
  declare key: string;
  /** The commit that it was prepared at; null without a repository. */
  declare commit: string | null;
  declare status: PreparationStatus;
  /** Of its log; null while there is none. */
  declare lastLines: string | null;
  /** Duration; 0 when the environment was there already. */
  declare seconds: number | null;
  /** What it takes on the disk of the runtime. */
  declare bytes: number | null;
  /** The lease under which it was reported last. */
  declare leaseId: Id<'lease'>;
  declare createdAt: number;
  declare updatedAt: number;
}
