// A version of an agent: its settings after a change. A version never changes.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Agent, settingColumns } from './model.ts';

export class AgentVersion extends table('agent_versions', {
  id: column<Id<'agentVersion'>>(),
  orgId: column<Id<'organization'>>(),
  agentId: column<Agent['id']>(),
  /** Number of the version, counted from 1 for each agent. */
  number: column<number>(),
  ...settingColumns,
  note: column<string | null>(),
  authorUserId: column<Id<'person'> | null>(),
  /** The author's name at the time when the version was created; null when no person is known. */
  author: column<string | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'agent version';
  static override order = '"number" desc';
  static visibleTo = orgWide;

  static {
    this.belongsTo('agent', Agent, 'agentId');
  }
}
