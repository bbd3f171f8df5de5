// A part of the recording of a run: encrypted lines in the storage (docs/recordings.md).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class RecordingPart extends table('recording_parts', {
  id: column<Id<'recordingPart'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Id<'run'>>(),
  contentKey: column<Id<'content'>>(),
  calls: column<number>(),
  /** Number of calls whose content was left out, because it exceeds the limits. */
  omitted: column<number>(),
  /** Size of the lines, before compression and encryption. */
  sizeBytes: column<number>(),
  createdAt: column<number>(),
  /** The people whose keys encrypt the part; empty for older parts. */
  personIds: column<string[]>(),
}) {
  static override noun = 'recording';
  static override order = '"created_at", "id"';
  static visibleTo = withinReach;
}
