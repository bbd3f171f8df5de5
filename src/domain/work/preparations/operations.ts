// Reads the preparations of a run.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { findRun } from '../runs/operations.ts';
import { Preparation } from './model.ts';

/** Preparations of a run, oldest first. @throws 404 */
export async function listPreparations(caller: Caller, runId: string): Promise<Preparation[]> {
  const { id } = await findRun(caller, runId);
  return Preparation.findAll({ runId: id, ...withinReach(caller) });
}
