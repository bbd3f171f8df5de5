// Queues the reports of runs to where the events came from that have started them (../inbound/answer.ts).
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { Run } from './model.ts';
import { needsPersonSql } from './needs.ts';
import { isInState, openStates } from './states.ts';

export type Origin = Pick<Run, 'originDeliveryId' | 'originNumber'>;

/** Reports a run that has begun, waits for a person, or goes on; the issue of the tracker has its own report. */
export async function enqueueAnswer(trx: Transaction, run: Origin & Pick<Run, 'id'>): Promise<void> {
  if (run.originDeliveryId === null) return;
  await enqueue(trx, run.originNumber === null ? 'finish issue' : 'answer event', { runId: run.id });
}

const toggleWaitsSql = `update runs set origin_waits = not origin_waits
  where origin_delivery_id is not null and ${isInState(openStates)} and (${needsPersonSql('runs')}) <> origin_waits
  returning id, origin_delivery_id, origin_number`;

/** Reports the runs that have begun to wait for a person, or go on. */
export const answerWaits = (): Promise<void> =>
  transaction(async (trx) => {
    const toggled = await sql<Origin & Pick<Run, 'id'>>(toggleWaitsSql, [], trx);
    for (const run of toggled) await enqueueAnswer(trx, run);
  });
