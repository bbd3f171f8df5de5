// A terminal: a shell that a person uses in the sandbox of a running mission. The runtime starts the shell. It sends requests to the
// platform to fetch the person's input and to deliver the output of the shell.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Run } from '../runs/model.ts';

export const terminalStatuses = ['requested', 'open', 'ended'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

export class Terminal extends table('terminals', {
  id: column<Id<'terminal'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Run['id']>(),
  authorUserId: column<Id<'person'>>(),
  /** The author's name when the terminal was opened. */
  author: column<string>(),
  width: column<number>(),
  height: column<number>(),
  /** Whether the shell has a terminal device; null until the runtime has started it. */
  hasDevice: column<boolean | null>(),
  reason: column<string | null>(),
  createdAt: column<number>(),
  openedAt: column<number | null>(),
  endedAt: column<number | null>(),
}) {
  static override noun = 'terminal';
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'terminals');
  }

  /** Id of the lease under which the runtime serves the terminal. */
  declare leaseId: Id<'lease'>;
  /** When the person was last connected. */
  declare seenAt: number;
}
