// Removes runtimes that have shut down: from the list, and from the names of draining runtimes.
import type { Caller } from '#access/principal.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { forgetDrains, setDraining } from '../../identity/tokens/drains.ts';
import { deleteStaleHarnesses, forgetRuntime, isListedSql } from '../../projects/agents/runtime-harnesses.ts';

/** Removes a runtime; a repeated call changes nothing. */
export const leave = (caller: Caller, runtime: string): Promise<void> =>
  transaction(async (trx) => {
    await forgetRuntime(trx, caller, runtime);
    await setDraining(caller.credentialId, runtime, false, trx);
  });

/** Removes runtimes that were last seen more than a day ago, with their drains. */
export async function forgetGoneRuntimes(): Promise<void> {
  await deleteStaleHarnesses();
  await forgetDrains(isListedSql);
}
