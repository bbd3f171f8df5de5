// Recordings by runtimes: a part is encrypted by the runtime with the key that it gets here, uploaded like an artifact, and reported.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { derivedId, type Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { claimContent } from '../../work/artifacts/content.ts';
import { keyOfPart } from '../../work/recordings/keys.ts';
import { RecordingPart } from '../../work/recordings/model.ts';
import { requireRoom } from '../../work/recordings/operations.ts';
import { requireConsent } from '../../work/recordings/settings.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';

interface Named {
  runId: string;
  leaseId: string;
  /** The runtime's own id of the part. */
  part: string;
}

const idOf = ({ leaseId, part }: Named): Id<'recordingPart'> => derivedId('recordingPart', leaseId, part);

/** @throws 404, or 409: `lease_lost`, or an organization without recordings */
export const openRecordingPart = (caller: Caller, named: Named): Promise<{ key: string }> =>
  transaction(async (trx) => {
    const { orgId } = await lockHeldRun(trx, caller, named);
    await requireConsent(trx, orgId);
    return { key: (await keyOfPart(orgId, idOf(named), trx))!.toString('base64') };
  });

export interface ReportedPart extends Named {
  contentKey: string;
  calls: number;
  omitted: number;
  sizeBytes: number;
}

/** A repeated report changes nothing. @throws 404, or 409 as above, and beyond the bounds of a run */
export const reportRecordingPart = (caller: Caller, report: ReportedPart): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const { id: runId, orgId, projectId } = await lockHeldRun(trx, caller, report);
    await requireConsent(trx, orgId);
    const id = idOf(report);
    if (await RecordingPart.find({ id }, trx)) return { ok: true };
    const { calls, omitted, sizeBytes } = report;
    await requireRoom(trx, runId, sizeBytes);
    await claimContent(trx, orgId, report.contentKey);
    const contentKey = report.contentKey as Id<'content'>;
    const part = { id, orgId, projectId, runId, contentKey, calls, omitted, sizeBytes, createdAt: now() };
    await RecordingPart.insert(trx, part);
    return { ok: true };
  });
