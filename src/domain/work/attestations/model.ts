// Commits of missions. Runtimes find the commits in the checkouts of agents. Each commit has a signed statement.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import type { Envelope } from '#foundation/merkle/envelope.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

export class Attestation extends table('attestations', {
  sha: column<string>(),
  treeSha: column<string>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Run['id']>(),
  stepId: column<Id<'runStep'>>(),
  /** The credential of the runtime that has reported the commit. */
  reporterId: column<string>(),
  /** Position of the commit among the commits of the run, counted from 1. */
  position: column<number>(),
  createdAt: column<number>(),
  /** The signed statement; null until it is signed. */
  envelope: column<Envelope | null>(),
  keyId: column<string | null>(),
  signedAt: column<number | null>(),
}) {
  static override noun = 'attestation';
  static override idColumn = ['orgId', 'sha'];
  static override order = '"position"';
  static override jsonAttributes = ['envelope'];
  static visibleTo = withinReach;
}
