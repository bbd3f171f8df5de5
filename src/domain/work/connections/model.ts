// Connections of a run: the hosts that its environment and agents tried to reach, and the result of each attempt.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

/** Phases of a step: `setup` prepares the environment, `agent` is everything after it. */
export const connectionPhases = ['setup', 'agent'] as const;
export type ConnectionPhase = (typeof connectionPhases)[number];
export const connectionVerdicts = ['allowed', 'blocked', 'not_public', 'unknown_host', 'failed', 'untrusted'] as const;
export type ConnectionVerdict = (typeof connectionVerdicts)[number];

export class Connection extends table('connections', {
  runId: column<Run['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Template of the step during which the connection was first reported. */
  templateId: column<string>(),
  host: column<string>(),
  port: column<number>(),
  phase: column<ConnectionPhase>(),
  verdict: column<ConnectionVerdict>(),
  count: column<number>(),
  sentBytes: column<number>(),
  receivedBytes: column<number>(),
  programs: column<string[]>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'connection';
  static override idColumn = ['runId', 'host', 'port', 'phase', 'verdict'];
  static override order =
    `"verdict" <> 'blocked', "verdict" = 'allowed', "count" desc, "host", "port", "phase", "verdict"`;
  static visibleTo = withinReach;
}
