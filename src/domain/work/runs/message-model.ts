// The history of a run, in order: messages of people to its agents, and their decisions.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Run } from './model.ts';

export const messageKinds = ['message', 'answer', 'approval', 'interrupt', 'resume'] as const;
export type MessageKind = (typeof messageKinds)[number];

export class RunMessage extends BaseModel {
  static override tableName = 'run_messages';
  static override noun = 'message';
  static override order = '"seq"';
  static override columns = [
    'id',
    'runId',
    'orgId',
    'projectId',
    'seq',
    'kind',
    'text',
    'authorUserId',
    'author',
    'sandboxId',
    'fragmentSeq',
    'approved',
    'createdAt',
    'deliveredAt',
    'acknowledgedAt',
  ];
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'messages');
  }

  declare id: Id<'runMessage'>;
  declare runId: Run['id'];
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** From 0. */
  declare seq: number;
  /** Only `message` and `answer` are delivered to the agent. */
  declare kind: MessageKind;
  declare text: string;
  declare authorUserId: Id<'person'> | null;
  /** The author's name when the message was sent. */
  declare author: string;
  /** The sender's own id of the message; null without one. */
  declare key: string | null;
  /** For an answer: the sandbox, and the fragment in it that asked. */
  declare sandboxId: string | null;
  declare fragmentSeq: number | null;
  /** Decision about the call of a tool; null for the answer to another question, and for what is no answer. */
  declare approved: boolean | null;
  declare createdAt: number;
  /** When a runtime first received the message, and when its agent took it up. */
  declare deliveredAt: number | null;
  declare acknowledgedAt: number | null;
}
