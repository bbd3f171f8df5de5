// An event about an issue or pull request can start a run. The state of such a run is reported on that issue or pull request. This module
// queues the jobs that write these reports (../inbound/answer.ts).
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { Run } from './model.ts';
import { needsPersonSql } from './needs.ts';
import { isInState, openStates } from './states.ts';

export type Origin = Pick<Run, 'originDeliveryId' | 'originNumber'>;

/** Reports the current state of a run that an event has started. */
export async function enqueueAnswer(trx: Transaction, run: Origin & Pick<Run, 'id'>): Promise<void> {
  if (run.originDeliveryId === null) return;
  await enqueue(trx, run.originNumber === null ? 'finish issue' : 'answer event', { runId: run.id });
}

const toggleWaitsSql = `update runs set origin_waits = not origin_waits
  where origin_delivery_id is not null and ${isInState(openStates)} and (${needsPersonSql('runs')}) <> origin_waits
  returning id, origin_delivery_id, origin_number`;

/** Reports the runs that have begun or ceased to wait for a person to act. */
export const answerWaits = (): Promise<void> =>
  transaction(async (trx) => {
    const toggled = await sql<Origin & Pick<Run, 'id'>>(toggleWaitsSql, [], trx);
    for (const run of toggled) await enqueueAnswer(trx, run);
  });
