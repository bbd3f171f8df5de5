// Preparation of an environment: what the runtime of a run did so that its agents found one, for a template, a commit and its lock files.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Run } from '../runs/model.ts';

export const preparationStatuses = ['preparing', 'ready', 'failed'] as const;
export type PreparationStatus = (typeof preparationStatuses)[number];

export class Preparation extends table('preparations', {
  id: column<Id<'preparation'>>(),
  runId: column<Run['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  templateId: column<string>(),
  /** The runtime's own: the same key means the same prepared environment. */
  key: column<string>(),
  /** The commit that it was prepared at; null without a repository. */
  commit: column<string | null>(),
  status: column<PreparationStatus>(),
  /** Of its log; null while there is none. */
  lastLines: column<string | null>(),
  /** Duration; 0 when the environment was there already. */
  seconds: column<number | null>(),
  /** What it takes on the disk of the runtime. */
  bytes: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'preparation';
  static override order = '"created_at", "id"';
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'preparations');
  }

  /** The lease under which it was reported last. */
  declare leaseId: Id<'lease'>;
}
