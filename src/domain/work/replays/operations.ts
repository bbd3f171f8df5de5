// Links that show one run to people without an account: created and revoked by members, read by everybody who has the URL.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { isOrganizationOpen } from '../../organization/organizations/operations.ts';
import { secretValues } from '../../projects/secrets/delivery.ts';
import { requireDetails } from '../runs/kept.ts';
import { Run } from '../runs/model.ts';
import { findRun } from '../runs/operations.ts';
import { authorOf, lockRunInReach } from '../runs/steering.ts';
import { shareBounds } from './bounds.ts';
import { createMask } from './masking.ts';
import { RunShare } from './model.ts';
import { type RunEvent, type RunMoment, readEvents, readMoment } from './moment.ts';

const tokenPrefix = 'shr_';
/** Path of a link's page, to which the token is appended. */
export const sharedBase = '/shared/';

export interface CreatedShare {
  share: RunShare;
  /** The URL with the token, which is shown once. */
  address: string;
}

/** Creates a link. @throws 404, 409 when the run has the maximum number of links */
export const shareRun = (caller: Caller, runId: string, lifetimeDays: number): Promise<CreatedShare> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    requireDetails(run);
    const at = now();
    const active = await RunShare.query(trx).where({ runId: run.id, revokedAt: null }).where('expiresAt', '>', at);
    if (active.length >= shareBounds.perRun)
      throw conflict(`The run has ${shareBounds.perRun} active links, which is the maximum: revoke one.`);
    const { author } = await authorOf(caller);
    const token = newSecret(tokenPrefix);
    const id = newId('runShare');
    const { id: ofRun, orgId, projectId } = run;
    await RunShare.insert(trx, {
      ...{
        id,
        orgId,
        projectId,
        runId: ofRun,
        tokenHash: digest(token),
        createdBy: author,
      },
      ...{
        createdAt: at,
        expiresAt: at + days(lifetimeDays),
        revokedAt: null,
        revokedBy: null,
        uses: 0,
        lastUsedAt: null,
      },
    });
    await announce(trx, run.id);
    const share = (await RunShare.find({ id }, trx))!;
    return { share, address: `${addresses().baseHost}${sharedBase}${token}` };
  });

/** Revokes a link at once; revoking it twice changes nothing. @throws 404 */
export const revokeShare = (caller: Caller, shareId: string): Promise<RunShare> =>
  transaction(async (trx) => {
    const share = await RunShare.lock(trx, { id: shareId, ...withinReach(caller) });
    if (!share) return RunShare.refuse();
    if (share.revokedAt !== null) return share;
    const changes = { revokedAt: now(), revokedBy: (await authorOf(caller)).author };
    await RunShare.patch(trx, { id: share.id }, changes);
    await announce(trx, share.runId);
    return { ...share, ...changes };
  });

/** The links to a run, oldest first. @throws 404 */
export async function listShares(caller: Caller, runId: string): Promise<RunShare[]> {
  const { id } = await findRun(caller, runId);
  return RunShare.findAll({ runId: id });
}

/** The state of the run at a given time; null means now. @throws 400 for a time before the run, 404 */
export async function findMoment(caller: Caller, runId: string, at: number | null): Promise<RunMoment> {
  return readMoment(...momentOf(await findRun(caller, runId), at));
}

function momentOf(run: Run, at: number | null): [Run, number] {
  if (at !== null && at < run.createdAt) throw invalid.field('at', 'must not be earlier than the start of the mission');
  return [run, at ?? now()];
}

/** The events of a run that the caller can reach. @throws 404 */
export const findEvents = async (caller: Caller, runId: string): Promise<RunEvent[]> =>
  readEvents(await findRun(caller, runId));

export interface SharedRun {
  run: Run;
  moment: RunMoment;
  events: RunEvent[];
  expiresAt: number;
  /** Masks one text of the run; the secrets are read once per call of `maskOf`. */
  mask(text: string): string;
}

// One statement finds the link and counts the use, so that a revoked link can no longer be read.
const useSql = `update run_shares set uses = uses + 1, last_used_at = $2
  where token_hash = $1 and revoked_at is null and expires_at > $2 returning run_id, org_id, expires_at`;

/** The run of a link, for the holder of its token. @throws 404 for an unknown, expired or revoked link */
export async function readShared(token: string, at: number | null): Promise<SharedRun> {
  const used = await transaction(async (trx) => {
    const [found] = await sql<Pick<RunShare, 'runId' | 'orgId' | 'expiresAt'>>(useSql, [digest(token), now()], trx);
    if (!found || !(await isOrganizationOpen(trx, found.orgId)))
      throw notFound('link: it is unknown, expired or revoked');
    return found;
  });
  const run = await Run.get({ id: used.runId });
  const mask = createMask(await secretValues(used.orgId));
  const [moment, events] = await Promise.all([readMoment(...momentOf(run, at)), readEvents(run)]);
  return { run, moment, events, expiresAt: used.expiresAt, mask };
}

/** Links are kept for 90 days after they expire. */
export const deleteOldShares = (): Promise<unknown> =>
  sql('delete from run_shares where expires_at < $1', [now() - days(90)]);
