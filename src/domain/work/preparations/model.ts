// Preparation of an environment by the runtime of a run, for one sandbox template, one commit and its lock files.
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
  /** Key that the runtime has chosen: equal keys mean the same prepared environment. */
  key: column<string>(),
  /** The checked-out commit; null without a repository. */
  commit: column<string | null>(),
  status: column<PreparationStatus>(),
  /** The last lines of the setup's log; null while there are none. */
  lastLines: column<string | null>(),
  /** Messages for people about parts that the runtime has left out of the environment. */
  notes: column<string[]>(),
  /** Duration of the preparation in seconds; 0 when an existing environment was reused. */
  seconds: column<number | null>(),
  /** Size of the environment on the runtime's disk. */
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

  /** The lease under which the last report was sent. */
  declare leaseId: Id<'lease'>;
}
