// Finds the cell of a request: by the database of this cell, else by asking the other cells, which know their own organizations best. A
// found cell is remembered for some seconds, because a client rarely sends one request.
import { now, seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { askCell, otherCells, ownCell } from '#foundation/http/cells.ts';
import { networkOf } from '#foundation/http/network.ts';
import { upstreamUnavailable } from '#foundation/problem.ts';
import { moveStateOf } from '../../organization/cells/state.ts';
import { organizationOfKey, type RequestKey } from './keys.ts';

/** Path of the question for the cell of a key. */
export const findPath = '/cells/find';
const rememberedMs = seconds(5);
const maxRemembered = 10_000;

/** Cells by key, with the time until which each entry is valid. */
const remembered = new Map<string, { cell: string; until: number }>();
const textOf = ({ kind, value }: RequestKey): string => kind + value;
/** Forgets the remembered cell of a key, after the cell has answered that it does not have the key. */
export const forgetCell = (key: RequestKey): void => void remembered.delete(textOf(key));

// Unknown secrets are asked for in every cell, so that guesses must not exhaust the connections between cells.
const questions = createCapacity({
  name: 'cell questions',
  all: 64,
  perKey: 16,
  queue: { perKey: 100, all: 400, waitMs: seconds(5) },
  description: 'Too many unknown credentials were sent from this network.',
});

/**
 * The cell of a key according to the database of this cell; null for an unknown key. Until an organization has arrived here, the cell that
 * it comes from serves it.
 */
export async function knownCell(key: RequestKey): Promise<string | null> {
  const orgId = await organizationOfKey(key);
  if (orgId === undefined) return null;
  const moving = orgId === null ? undefined : await moveStateOf(orgId);
  if (moving?.state === 'arriving') return null;
  return moving?.state === 'moved' ? moving.otherCell : ownCell();
}

/** Whether the rows of the key are here, for a request that another cell has forwarded. */
export async function isHere(key: RequestKey): Promise<boolean> {
  const orgId = await organizationOfKey(key);
  if (!orgId) return orgId === null;
  return (await moveStateOf(orgId))?.state !== 'moved';
}

/**
 * The other cell that a request has to be sent to; null for this one, which also answers unknown keys. @param address The client's
 * @throws 503 when a cell does not answer that may know the key
 */
export async function otherCellOf(key: RequestKey, address: string): Promise<string | null> {
  const cell = (await knownCell(key)) ?? recall(key) ?? (await askOthers(key, address));
  return cell === ownCell() ? null : cell;
}

function recall(key: RequestKey): string | null {
  const found = remembered.get(textOf(key));
  return found && found.until > now() ? found.cell : null;
}

async function askOthers(key: RequestKey, address: string): Promise<string | null> {
  const hold = await questions.take(networkOf(address));
  try {
    const answers = await Promise.allSettled(otherCells().map((cell) => askCell(cell, findPath, key)));
    for (const answer of answers) {
      const cell = answer.status === 'fulfilled' && (answer.value.body as { cell?: unknown } | null)?.cell;
      if (typeof cell !== 'string') continue;
      if (remembered.size >= maxRemembered) remembered.clear();
      remembered.set(textOf(key), { cell, until: now() + rememberedMs });
      return cell;
    }
    if (answers.some(({ status }) => status === 'rejected'))
      throw upstreamUnavailable('A cell that may know this credential does not answer.', 5);
    return null;
  } finally {
    hold.release();
  }
}
