// The recording of a run: described to callers, read by the holder of its signed URL, deleted after its retention period.
import type { Caller } from '#access/principal.ts';
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict, notFound } from '#foundation/problem.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { addUseOfContents } from '../artifacts/content.ts';
import { findRun } from '../runs/operations.ts';
import { isStartedBySql } from '../runs/person.ts';
import { recordingBounds } from './bounds.ts';
import { destroyPersonKey } from './keys.ts';
import type { RecordingPart } from './model.ts';
import { lockConsent } from './settings.ts';

addUseOfContents('recording_parts');

export interface Recording {
  runId: string;
  calls: number;
  omitted: number;
  sizeBytes: number;
  createdAt: number;
  expiresAt: number;
}

type DatedPart = RecordingPart & { days: number };

const dayMs = days(1);
const partsSql = `select p.id, p.org_id, p.content_key, p.calls, p.omitted, p.size_bytes, p.created_at, p.person_ids, s.days
  from recording_parts p join recording_settings s using (org_id)
  where p.run_id = $1 and p.created_at > $2::bigint - s.days::bigint * ${dayMs} order by p.created_at, p.id`;

/** The parts that have not expired, in order. */
export const partsOfRun = (runId: string): Promise<DatedPart[]> => sql<DatedPart>(partsSql, [runId, now()]);

/** The recording of a run that the caller can reach. @throws 404 for an unknown run, and for a run without a recording */
export async function findRecording(caller: Caller, runId: string): Promise<Recording> {
  const run = await findRun(caller, runId);
  const parts = await partsOfRun(run.id);
  const [first] = parts;
  if (!first) throw notFound('recording');
  const total = (count: (part: DatedPart) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  return {
    runId: run.id,
    calls: total(({ calls }) => calls),
    omitted: total(({ omitted }) => omitted),
    sizeBytes: total(({ sizeBytes }) => sizeBytes),
    createdAt: first.createdAt,
    expiresAt: first.createdAt + days(first.days),
  };
}

const totalSql =
  'select count(*)::int as parts, coalesce(sum(size_bytes), 0)::bigint as bytes from recording_parts where run_id = $1';

/** Checks that another part of this size can be added to the recording of a run. @throws 409 when the recording would exceed its size limits */
export async function requireRoom(trx: Transaction, runId: string, sizeBytes: number): Promise<void> {
  const [total] = await sql<{ parts: number; bytes: number }>(totalSql, [runId], trx);
  if (total!.parts >= recordingBounds.partsPerRun || total!.bytes + sizeBytes > recordingBounds.runBytes)
    throw conflict('The recording of the run has reached its maximum size.');
}

const deleteOfPersonSql = `delete from recording_parts where org_id = $1 and ${isStartedBySql('run_id', '$2')} returning run_id`;
const deleteOfRunsSql = 'delete from recording_parts where org_id = $1 and run_id = any($2) returning run_id';

/**
 * Deletes the recordings of missions that the person has started, and the key of the person, so that copies of the storage cannot be read
 * either; returns the runs. No part is added until `trx` ends.
 */
export async function deleteRecordingsOf(trx: Transaction, orgId: string, personId: string): Promise<string[]> {
  await lockConsent(trx, orgId);
  await destroyPersonKey(trx, orgId, personId);
  return runsOf(await sql<{ runId: string }>(deleteOfPersonSql, [orgId, personId], trx));
}

/** Deletes the recordings of the runs; returns those that had one. */
export const deleteRecordingsOfRuns = async (
  trx: Transaction,
  orgId: string,
  runIds: readonly string[],
): Promise<string[]> => runsOf(await sql<{ runId: string }>(deleteOfRunsSql, [orgId, runIds], trx));

const runsOf = (parts: readonly { runId: string }[]): string[] => [...new Set(parts.map(({ runId }) => runId))];

const batch = 1_000;
const deleteSql = `delete from recording_parts where id in (select p.id from recording_parts p
  join recording_settings s using (org_id) where p.created_at <= $1::bigint - s.days::bigint * ${dayMs}
    and ${isWritableSql('p.org_id')} limit ${batch}) returning id`;

/** Deletes parts after their retention period; the sweep of artifacts removes their contents. */
export async function deleteOldRecordings(): Promise<void> {
  while ((await sql(deleteSql, [now()])).length === batch);
}
