// Terminals for the runtime that holds the run. The runtime starts the shell, waits for input, and appends output.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { announce, watch } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import { inputWaitMs } from '../../work/terminals/bounds.ts';
import { Terminal } from '../../work/terminals/model.ts';
import { endTerminal } from '../../work/terminals/operations.ts';
import { addOutput, type InputPiece, inputFrom, nextOutput } from '../../work/terminals/pieces.ts';
import { findTerminalState, type TerminalState } from '../../work/terminals/state.ts';

export interface HeldTerminal {
  runId: string;
  leaseId: string;
  terminalId: string;
}

export interface TerminalInput extends Pick<TerminalState, 'width' | 'height'> {
  input: InputPiece[];
  /** Reason why the shell must end; null while it may run. */
  endReason: string | null;
}

/** Locks a terminal whose run the runtime has claimed. @throws 404, or 409 `lease_lost` */
async function lockHeld(trx: Transaction, caller: Caller, held: HeldTerminal): Promise<Terminal> {
  const { id: runId, leaseId } = await lockHeldRun(trx, caller, held);
  const found = await Terminal.query(trx).findOne({ id: held.terminalId, runId, leaseId }).forNoKeyUpdate();
  return found ?? Terminal.refuse();
}

/** Records that the shell is running, deletes the input pieces before `from`, and waits for further input, a new size, or the end. */
export async function readTerminal(
  caller: Caller,
  held: HeldTerminal & Pick<TerminalInput, 'width' | 'height'> & { from: number; hasDevice: boolean },
): Promise<TerminalInput> {
  await transaction(async (trx) => {
    const { id, openedAt } = await lockHeld(trx, caller, held);
    if (openedAt !== null) return;
    await Terminal.patch(trx, { id }, { openedAt: now(), hasDevice: held.hasDevice });
    await announce(trx, id);
  });
  const read = async (): Promise<TerminalInput> => {
    const { width, height, reason: endReason } = (await findTerminalState(held.terminalId)) ?? Terminal.refuse();
    const input = await inputFrom(held.terminalId, held.from);
    return { input, width, height, endReason };
  };
  let answer = await read();
  const isNew = ({ input, width, height, endReason }: TerminalInput) =>
    input.length > 0 || endReason !== null || width !== held.width || height !== held.height;
  for await (const _ of watch([held.terminalId], AbortSignal.timeout(inputWaitMs))) {
    if (isNew(answer)) break;
    answer = await read();
    if (isNew(answer)) break;
  }
  return answer;
}

/** Appends a piece of output; a repeated piece changes nothing. Only the latest pieces are kept. @throws 404, 409 */
export const appendTerminalOutput = (
  caller: Caller,
  { seq, content, ...held }: HeldTerminal & { seq: number; content: string },
): Promise<{ nextSeq: number }> =>
  transaction(async (trx) => {
    const { id } = await lockHeld(trx, caller, held);
    const next = await nextOutput(trx, id);
    if (seq > next) throw conflict.field('seq', `must be ${next}, the next number: ${seq} would leave a gap`);
    if (seq < next) return { nextSeq: next };
    await addOutput(trx, id, seq, content);
    await announce(trx, id);
    return { nextSeq: seq + 1 };
  });

export const reportTerminalEnd = (
  caller: Caller,
  { reason, ...held }: HeldTerminal & { reason: string },
): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const { id } = await lockHeld(trx, caller, held);
    await endTerminal(trx, id, reason);
    return { ok: true };
  });
