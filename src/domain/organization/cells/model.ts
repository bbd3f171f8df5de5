// An organization that is moving between cells, or has left this one (docs/cells.md).
import type { Id } from '#foundation/ids.ts';
import type { WaitingJob } from '#foundation/jobs/waiting-jobs.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/**
 * `draining`: writes of callers are refused, and jobs of the service end their work. `frozen`: nothing is written. `arriving`: the rows are
 * here, and the other cell still serves them. `moved`: the other cell serves the organization.
 */
type MoveState = 'draining' | 'frozen' | 'arriving' | 'moved';

/** The packed file of an organization. */
export interface MoveFile {
  /** Key in the storage. */
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
  /** Id of the move, in both cells. */
  moveId: column<string>(),
  /** The packed file; null until it is complete. */
  file: column<MoveFile | null>(),
  jobs: column<WaitingJob[]>(),
  changedAt: column<number>(),
  /** When the last row of an organization that has moved was removed here. */
  erasedAt: column<number | null>(),
}) {
  static override idColumn = 'orgId';
  static override jsonAttributes = ['file', 'jobs'];
  static override order = '"org_id"';
}
