// Recordings that runtimes make. The runtime encrypts each part with the key that it gets here, uploads the part like an artifact, and
// reports it.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { derivedId, type Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { claimContent } from '../../work/artifacts/content.ts';
import { peopleOfRecording } from '../../work/forks/people.ts';
import { recordingBounds } from '../../work/recordings/bounds.ts';
import { keyOfPart, makePersonKeys } from '../../work/recordings/keys.ts';
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

/**
 * Returns the key with which the runtime encrypts a part. @throws 404; 409 `lease_lost`, and 409 for an organization that has not enabled
 * recordings
 */
export const openRecordingPart = (caller: Caller, named: Named): Promise<{ key: string; keyId: string }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, named);
    const personIds = await peopleOfRecording(trx, run);
    await requireConsent(trx, run.orgId, personIds);
    await makePersonKeys(trx, run.orgId, personIds);
    const { key, keyId } = (await keyOfPart({ id: idOf(named), orgId: run.orgId, personIds }, trx))!;
    return { key: key.toString('base64'), keyId };
  });

export interface ReportedPart extends Named {
  /** Id of the key with which the content is encrypted, from the response of `openRecordingPart`. */
  keyId: string;
  contentKey: string;
  calls: number;
  omitted: number;
  sizeBytes: number;
}

/**
 * Records an uploaded part. A repeated report changes nothing.
 * @throws 400 when the uploaded content is too large, even for `sizeBytes` bytes of lines that cannot be compressed; 404; 409 for the same
 * reasons as in `openRecordingPart`, and also when the run has reached a limit of recordings or the key of the part was replaced after the
 * part was opened
 */
export const reportRecordingPart = (caller: Caller, report: ReportedPart): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, report);
    const { id: runId, orgId, projectId } = run;
    const personIds = await peopleOfRecording(trx, run);
    await requireConsent(trx, orgId, personIds);
    const id = idOf(report);
    if (await RecordingPart.find({ id }, trx)) return { ok: true };
    const { calls, omitted, sizeBytes } = report;
    if (report.keyId !== (await keyOfPart({ id, orgId, personIds }, trx))?.keyId)
      throw conflict.field('keyId', 'the recordings with this key were deleted since the part was opened');
    await requireRoom(trx, runId, sizeBytes);
    const stored = await claimContent(trx, orgId, report.contentKey);
    const most = sizeBytes + recordingBounds.overheadBytes;
    if (stored.sizeBytes > most)
      throw invalid.field(
        'contentKey',
        `the content is larger than the ${most} bytes to which ${sizeBytes} bytes of lines can be compressed`,
      );
    const contentKey = report.contentKey as Id<'content'>;
    const part = { id, orgId, projectId, runId, contentKey, calls, omitted, sizeBytes, createdAt: now(), personIds };
    await RecordingPart.insert(trx, part);
    return { ok: true };
  });
