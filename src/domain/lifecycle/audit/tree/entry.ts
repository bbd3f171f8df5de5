// The leaf that represents an event in the Merkle tree: the stored columns of the event as canonical JSON (RFC 8785). The export contains
// exactly this text.
import { canonicalJson } from '#foundation/merkle/canonical-json.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { AuditEvent } from '../model.ts';

const columns = [
  ...(['orgId', 'number', 'createdAt', 'occurredAt', 'action', 'actorType', 'actorId', 'onBehalfOf'] as const),
  ...(['credentialId', 'surface', 'operation', 'requestId', 'sourceAddress', 'projectId'] as const),
  ...(['targetType', 'targetId', 'targetName', 'subjectId', 'changes'] as const),
];
/** Columns that later releases added. They are omitted while they are null, so that existing leaves stay valid. */
const laterColumns = ['traceId'] as const;
export type StoredEvent = Pick<AuditEvent, (typeof columns)[number] | (typeof laterColumns)[number]>;

const isLater: ReadonlySet<string> = new Set(laterColumns);
/** The column names in the order of canonical JSON, each serialized once. */
const members = [...columns, ...laterColumns].sort().map((name) => [name, `${JSON.stringify(name)}:`] as const);

export function entryText(event: StoredEvent): string {
  let text = '';
  for (const [name, printed] of members) {
    if (event[name] == null && isLater.has(name)) continue;
    text += `${text && ','}${printed}${canonicalJson(event[name])}`;
  }
  return `{${text}}`;
}

const entriesSql = `${selectionOf(AuditEvent)} where org_id = $1 and number > $2 and number <= $3 order by number, created_at`;

/** Stored events with numbers greater than `begin` and at most `end`. */
export const readEntries = (trx: Transaction, orgId: string, begin: number, end: number): Promise<AuditEvent[]> =>
  sql<AuditEvent>(entriesSql, [orgId, begin, end], trx);
