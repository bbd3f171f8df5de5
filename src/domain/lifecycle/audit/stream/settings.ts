// The destination of an audit log. An admin who may read the log can choose, replace and remove it.
import { manageOrganization } from '#access/authority.ts';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { hourOf, now, nowAfter } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { invalid } from '#foundation/problem.ts';
import { newSecret, seal } from '#foundation/secrets/secrets.ts';
import { readTree } from '../tree/growth.ts';
import { sealPurpose } from './delivery.ts';
import {
  type Destination,
  type DestinationSecret,
  destinationOf,
  receiverOf,
  requirePublicDestination,
} from './destination.ts';
import { AuditStream } from './model.ts';

export interface AuditStreamInput {
  address: string;
  token?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  after?: number | undefined;
}

export interface SavedAuditStream {
  stream: AuditStream;
  /** The created token; null when the caller provided one, or when the stored one is kept. */
  token: string | null;
}

export async function findAuditStream(caller: Caller): Promise<AuditStream | null> {
  return (await AuditStream.find({ orgId: wholeOrganization(caller) as AuditStream['orgId'] })) ?? null;
}

/** Number of entries of the tree that have not been delivered yet. */
export const countPending = async ({ orgId, lastNumber }: AuditStream): Promise<number> =>
  Math.max(0, (await readTree(orgId)).treeSize - lastNumber);

/** The caller's organization, if the caller may change its settings and read its audit log. @throws 403 */
function mayStream(caller: Caller, operation: string): string {
  beyondOneProject(caller);
  admit(caller, 'organizations:write', operation);
  manageOrganization(caller);
  return ownOrganization(caller);
}

const saveSql = `insert into audit_streams (org_id, address, sealed_secret, created_at, updated_at, last_number, last_checkpoint_hour)
    values ($1, $2, $3, $4, $4, $5, $6)
  on conflict (org_id) do update set address = excluded.address, sealed_secret = excluded.sealed_secret, updated_at = excluded.updated_at,
    last_number = excluded.last_number, last_checkpoint_hour = excluded.last_checkpoint_hour, failures = 0, failing_since = null,
    last_error = null, delivered_at = case when audit_streams.address = excluded.address then audit_streams.delivered_at end, due_at = 0`;

interface Stored {
  address: string;
  sealedSecret: string;
  updatedAt: number;
  lastNumber: number;
  lastCheckpointHour: number;
}
const storedSql = `select address, sealed_secret, updated_at, last_number, last_checkpoint_hour from audit_streams
  where org_id = $1 for update`;

/** Sets or replaces the destination. @throws 400 for a URL that is not public, for missing keys, and for a number beyond the end of the log */
export async function setAuditStream(caller: Caller, input: AuditStreamInput): Promise<SavedAuditStream> {
  const orgId = mayStream(caller, 'setAuditStream');
  const destination = destinationOf(input.address);
  const given = secretIn(destination, input);
  const { lastNumber: end } = await readTree(orgId);
  if ((input.after ?? 0) > end) throw invalid.field('after', `must be at most ${end}, the last number of the log`);
  await releaseTransaction();
  await requirePublicDestination(destination);
  const token = await transaction(async (trx) => {
    const [stored] = await sql<Stored>(storedSql, [orgId], trx);
    const { secret, created } = secretFor(orgId, destination, { given, stored });
    const after = input.after ?? stored?.lastNumber ?? 0;
    // A destination that gets the log from its beginning also gets all checkpoints from the first one on.
    const hour = after === 0 ? 0 : input.after === undefined ? stored!.lastCheckpointHour : hourOf(now()) - 1;
    await sql(saveSql, [orgId, input.address, secret, nowAfter(stored?.updatedAt ?? 0), after, hour], trx);
    return created;
  });
  return { stream: await AuditStream.get({ orgId: orgId as AuditStream['orgId'] }), token };
}

/** The credentials in the input; null without any. @throws 400 for credentials of another kind of destination */
function secretIn(
  { kind }: Destination,
  { token, accessKeyId, secretAccessKey }: AuditStreamInput,
): DestinationSecret | null {
  if (kind === 'collector') {
    if (accessKeyId || secretAccessKey) throw invalid.field('accessKeyId', 'is only for a bucket');
    return token === undefined ? null : { token };
  }
  if (token) throw invalid.field('token', 'is only for an https URL');
  if (!accessKeyId !== !secretAccessKey)
    throw invalid.field(accessKeyId ? 'secretAccessKey' : 'accessKeyId', 'is required, because the other key is given');
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null;
}

interface Secrets {
  given: DestinationSecret | null;
  stored: Stored | undefined;
}

/**
 * The sealed credentials: those in the request, or the stored ones if the receiver is unchanged, or else a new token. @throws 400 for a
 * bucket without keys
 */
function secretFor(orgId: string, destination: Destination, { given, stored }: Secrets) {
  const sealed = (secret: DestinationSecret) => seal(sealPurpose(orgId), JSON.stringify(secret));
  if (given) return { secret: sealed(given), created: null };
  if (stored && receiverOf(destinationOf(stored.address)) === receiverOf(destination))
    return { secret: stored.sealedSecret, created: null };
  if (destination.kind === 'bucket') throw invalid.field('accessKeyId', 'is required for a bucket');
  const token = newSecret('');
  return { secret: sealed({ token }), created: token };
}

/** Removes the destination, which ends the deliveries; without a destination nothing changes. */
export async function deleteAuditStream(caller: Caller): Promise<{ ok: true }> {
  await sql('delete from audit_streams where org_id = $1', [mayStream(caller, 'deleteAuditStream')]);
  return { ok: true };
}

const retrySql = 'update audit_streams set due_at = 0 where org_id = $1 and failures > 0 returning org_id';

/** Retries a failed delivery without further waiting. Returns null if the organization has no destination. */
export async function retryAuditStream(caller: Caller): Promise<AuditStream | null> {
  await sql(retrySql, [mayStream(caller, 'retryAuditStream')]);
  return findAuditStream(caller);
}
