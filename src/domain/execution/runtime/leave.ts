// A runtime that ends: it is no longer listed, and its name no longer drains.
import type { Caller } from '#access/principal.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { setDraining } from '../../identity/tokens/drains.ts';
import { forgetRuntime } from '../../projects/agents/runtime-harnesses.ts';

/** Removes a runtime; a repeated call changes nothing. */
export const leave = (caller: Caller, runtime: string): Promise<void> =>
  transaction(async (trx) => {
    await forgetRuntime(trx, caller, runtime);
    await setDraining(caller.credentialId, runtime, false, trx);
  });
