// Terminals of people in running missions. Only the person who has opened a terminal can write to it and follow its output.
import type { Caller } from '#access/principal.ts';
import { ownPerson, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { authorOf, lockRunInReach } from '../runs/steering.ts';
import { latestStepOf } from '../runs/steps.ts';
import { terminalBounds } from './bounds.ts';
import { Terminal } from './model.ts';
import { addInput, lastInput } from './pieces.ts';
import { findTerminalState, type TerminalState } from './state.ts';

export type Size = Pick<Terminal, 'width' | 'height'>;

const openOfRunSql = 'select id from terminals where run_id = $1 and ended_at is null';

/** The terminal size that is nearest to the size of the window. */
const nearest = ({ width, height }: Size): Size => ({
  width: within(terminalBounds.width, width),
  height: within(terminalBounds.height, height),
});
const within = ({ min, max }: { min: number; max: number }, value: number) => Math.min(max, Math.max(min, value));

/** Requests a shell from the runtime of the run. @throws 404, 409 for a run without a sandbox or with too many terminals */
export const openTerminal = (caller: Caller, { runId, ...size }: Size & { runId: string }): Promise<TerminalState> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    const { orgId, projectId, leaseId } = run;
    const step = await latestStepOf(trx, run.id);
    const isWorking = run.status === 'running' && run.pausesAt === null && step?.status === 'running';
    if (!isWorking || !leaseId)
      throw conflict(`The mission has no sandbox now: the run is ${run.status}. A terminal needs a step in progress.`);
    const others = await sql<{ id: string }>(openOfRunSql, [run.id], trx);
    const states = await Promise.all(others.map(({ id }) => findTerminalState(id, trx)));
    if (states.filter((one) => one!.status !== 'ended').length >= terminalBounds.perRun)
      throw conflict(`A mission can have at most ${terminalBounds.perRun} open terminals.`);
    const id = newId('terminal');
    const at = now();
    const { author } = await authorOf(caller);
    const record = {
      id,
      orgId,
      projectId,
      runId: run.id,
      leaseId,
      authorUserId: ownPerson(caller),
      author,
      ...nearest(size),
    };
    await Terminal.insert(trx, { ...record, createdAt: at, seenAt: at });
    await announce(trx, run.id);
    return (await findTerminalState(id, trx))!;
  });

const ofCaller = (caller: Caller, id: string) => ({ id, authorUserId: ownPerson(caller), ...withinReach(caller) });

/** The caller's terminal with its state. @throws 404, also for the terminal of another person */
export async function findTerminal(caller: Caller, id: string): Promise<TerminalState> {
  const found = await Terminal.find(ofCaller(caller, id));
  return (found && (await findTerminalState(found.id))) ?? Terminal.refuse();
}

/** Locks the caller's terminal. @throws 404 */
const lockOwn = async (trx: Transaction, caller: Caller, id: string): Promise<Terminal> =>
  (await Terminal.query(trx).findOne(ofCaller(caller, id)).forNoKeyUpdate()) ?? Terminal.refuse();

/** Locks an open terminal of the caller. @throws 404, 409 for a terminal that has ended */
async function lockOpen(trx: Transaction, caller: Caller, id: string): Promise<Terminal> {
  const terminal = await lockOwn(trx, caller, id);
  const { status, reason } = (await findTerminalState(terminal.id, trx))!;
  if (status === 'ended') throw conflict(`The terminal has ended: ${reason}`);
  return terminal;
}

/**
 * Sends a piece of input to the shell; a repeated piece changes nothing. A piece without text only reports that the person is still
 * connected. @throws 404, 409 for a gap or for too much unread input
 */
export const writeTerminal = (
  caller: Caller,
  { terminalId, seq, text }: { terminalId: string; seq: number; text: string },
): Promise<TerminalState> =>
  transaction(async (trx) => {
    const { id } = await lockOpen(trx, caller, terminalId);
    await sql('update terminals set seen_at = $2 where id = $1', [id, now()], trx);
    const { last, unread } = await lastInput(trx, id);
    if (text !== '' && seq > last) {
      if (seq !== last + 1)
        throw conflict.field('seq', `must be ${last + 1}, the next number: ${seq} would leave a gap`);
      if (unread > terminalBounds.unreadInput)
        throw conflict('The shell has not read its earlier input yet.', { retryAfterSeconds: 1 });
      await addInput(trx, id, seq, text);
      await announce(trx, id);
    }
    return (await findTerminalState(id, trx))!;
  });

export const resizeTerminal = (
  caller: Caller,
  { terminalId, ...size }: Size & { terminalId: string },
): Promise<TerminalState> =>
  transaction(async (trx) => {
    const { id } = await lockOpen(trx, caller, terminalId);
    await Terminal.patch(trx, { id }, { ...nearest(size), seenAt: now() });
    await announce(trx, id);
    return (await findTerminalState(id, trx))!;
  });

/** Ends the terminal; the runtime ends its shell. Ending it twice changes nothing. @throws 404 */
export const closeTerminal = (caller: Caller, terminalId: string): Promise<TerminalState> =>
  transaction(async (trx) => {
    const { id, endedAt } = await lockOwn(trx, caller, terminalId);
    if (endedAt === null) await endTerminal(trx, id, 'The person has closed it.');
    return (await findTerminalState(id, trx))!;
  });

/** Ends the terminal and records the reason, unless it has already ended. */
export async function endTerminal(trx: Transaction, id: string, reason: string): Promise<void> {
  const ended = await sql(
    'update terminals set ended_at = $2, reason = $3 where id = $1 and ended_at is null returning id',
    [id, now(), reason],
    trx,
  );
  if (ended.length > 0) await announce(trx, id);
}
