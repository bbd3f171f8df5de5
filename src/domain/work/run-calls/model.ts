// Calls of a run that went through the gateway of its runner: to models, to tools of MCP servers, and connections to hosts. Each is a leaf
// of the Merkle tree whose root the attestations of the run contain.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

export const callKinds = ['model', 'tool', 'network'] as const;
export type CallKind = (typeof callKinds)[number];

export class RunCall extends table('run_calls', {
  runId: column<Run['id']>(),
  /** Position of the call in the run, counted from 1. */
  number: column<number>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  kind: column<CallKind>(),
  /** The call as canonical JSON, whose bytes are the leaf of the tree. */
  entry: column<string>(),
}) {
  static override noun = 'call';
  static override idColumn = ['orgId', 'runId', 'number'];
  static override order = '"number"';
  static visibleTo = withinReach;
}
