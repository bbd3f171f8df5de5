// The history of a run, in order: messages of people to its agents, and their decisions.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Run } from './model.ts';

export const messageKinds = ['message', 'answer', 'approval', 'interrupt', 'resume', 'handover', 'push'] as const;
export type MessageKind = (typeof messageKinds)[number];

export class RunMessage extends table('run_messages', {
  id: column<Id<'runMessage'>>(),
  runId: column<Run['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Position of the entry in the history, counted from 0. */
  seq: column<number>(),
  /** Kind of the entry; only `message` and `answer` are delivered to the agent. */
  kind: column<MessageKind>(),
  text: column<string>(),
  authorUserId: column<Id<'person'> | null>(),
  /** The author's name when the message was sent. */
  author: column<string>(),
  /** The sandbox with the answered question, and the number of the fragment that contains the question. */
  sandboxId: column<string | null>(),
  fragmentSeq: column<number | null>(),
  /** Whether a tool call was approved; null for entries other than decisions about a tool call. */
  approved: column<boolean | null>(),
  createdAt: column<number>(),
  /** When a runtime first received the message, and when its agent read it. */
  deliveredAt: column<number | null>(),
  acknowledgedAt: column<number | null>(),
}) {
  static override noun = 'message';
  static override order = '"seq"';
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'messages');
  }

  /** The sender's own id of the message; null without one. */
  declare key: string | null;
}
