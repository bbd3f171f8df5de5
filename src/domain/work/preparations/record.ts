// Records how the runtime of a run prepares an environment.
import { now } from '#foundation/clock.ts';
import { derivedId, type Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import type { Run } from '../runs/model.ts';
import { preparationBounds } from './bounds.ts';
import { Preparation } from './model.ts';

export interface ReportedPreparation extends Pick<Preparation, 'key' | 'templateId' | 'status'> {
  commit?: string | null | undefined;
  lastLines?: string | null | undefined;
  notes?: string[] | null | undefined;
  seconds?: number | null | undefined;
  bytes?: number | null | undefined;
}

/**
 * Records a preparation of the run, whose lock the caller holds. A repeated report changes nothing, nor does a start that arrives after the
 * end. @throws 409
 */
export async function recordPreparation(
  trx: Transaction,
  { id: runId, orgId, projectId }: Run,
  leaseId: Id<'lease'>,
  report: ReportedPreparation,
): Promise<void> {
  const { templateId, key, status, commit = null, lastLines = null, notes, seconds = null, bytes = null } = report;
  const id = derivedId('preparation', runId, `${templateId}\n${key}`);
  const said = { status, commit, lastLines, notes: notes ?? [], seconds, bytes, leaseId, updatedAt: now() };
  const before = await Preparation.lock(trx, { id });
  if (before) {
    const isLate = before.leaseId === leaseId && before.status !== 'preparing' && status === 'preparing';
    if (!isLate) await Preparation.patch(trx, { id }, said);
    return;
  }
  const others = await Preparation.query(trx).where({ runId }).resultSize();
  if (others >= preparationBounds.perRun) {
    throw conflict(`A run can have at most ${preparationBounds.perRun} preparations.`);
  }
  await Preparation.insert(trx, { id, runId, orgId, projectId, templateId, key, createdAt: now(), ...said });
}
