// An organization that is moving between cells, or has moved away from this cell (docs/cells.md).
import type { Id } from '#foundation/ids.ts';
import type { WaitingJob } from '#foundation/jobs/waiting-jobs.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/**
 * `draining`: callers' writes are refused, and running jobs finish their work. `frozen`: nothing is written. `arriving`: the rows are
 * received here, but the other cell still serves the organization. `moved`: the other cell serves the organization.
 */
type MoveState = 'draining' | 'frozen' | 'arriving' | 'moved';

/** The packed file of an organization. */
export interface MoveFile {
  /** Storage key. */
  contentKey: string;
  bytes: number;
  /** Number of rows by table. */
  tables: Record<string, number>;
}

export class CellOrganization extends table('cell_organizations', {
  orgId: column<Id<'organization'>>(),
  slug: column<string>(),
  state: column<MoveState>(),
  otherCell: column<string>(),
  /** Id of the move, the same in both cells. */
  moveId: column<string>(),
  /** The packed file; null until it is complete. */
  file: column<MoveFile | null>(),
  jobs: column<WaitingJob[]>(),
  changedAt: column<number>(),
  /** The time when this cell had removed all rows of the organization, which another cell now serves; null before that. */
  erasedAt: column<number | null>(),
}) {
  static override idColumn = 'orgId';
  static override jsonAttributes = ['file', 'jobs'];
  static override order = '"org_id"';
}
