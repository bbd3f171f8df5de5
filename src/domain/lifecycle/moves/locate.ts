// Finds the cell that must handle a request: from this cell's database, or else by asking the other cells, which know their own
// organizations best. The result is remembered for some seconds, because clients rarely send just one request.
import { z } from 'zod';
import { now, seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { answerMs, askCell, otherCells, ownCell } from '#foundation/http/cells.ts';
import { networkOf } from '#foundation/http/network.ts';
import { createThrottle } from '#foundation/http/throttle.ts';
import { upstreamUnavailable } from '#foundation/problem.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import { rates } from '#limits.ts';
import { placeOfMove } from '../../organization/cells/state.ts';
import { organizationOfKey, type RequestKey } from './keys.ts';

/** Path of the request that asks a cell whether it has a key. */
export const findPath = '/cells/find';
const rememberedMs = seconds(5);
const maxRemembered = 10_000;

/** The cell to which requests with a key belong. `orgId` is the organization of the key; null if the key belongs to no organization. */
export interface CellPlace {
  cell: string;
  orgId: string | null;
}

/** The cell and organization found for each key, with the time until which the entry is valid. */
const remembered = new Map<string, CellPlace & { until: number }>();
const textOf = ({ kind, value }: RequestKey): string => kind + value;
/** Forgets the remembered cell of a key; called when the cell has answered that it does not have the key. */
export const forgetPlace = (key: RequestKey): void => void remembered.delete(textOf(key));

// Every cell is asked about an unknown secret, so guesses must not exhaust the connections between cells. For a network that has sent too
// many unknown secrets, few questions are asked at a time; valid credentials from there still work.
const description = 'Too many unknown credentials were sent from this network.';
const questions = createCapacity({
  ...{ name: 'cell questions', all: 64, perKey: 16, description },
  queue: { perKey: 100, all: 400, waitMs: seconds(5) },
});
const guesses = createCapacity({ all: 4, perKey: 1, description, queue: { perKey: 20, all: 80, waitMs: seconds(5) } });
const failures = createThrottle('unknown in all cells', rates.failedAuthenticationsPerMinute, 60, description);

/**
 * The cell to which a request with this key belongs, according to this cell's database; null for an unknown key. Also null while the
 * organization of the key is arriving here, because the cell from which it comes still serves it.
 */
export async function knownPlace(key: RequestKey): Promise<CellPlace | null> {
  const orgId = await organizationOfKey(key);
  if (orgId === undefined) return null;
  const moving = orgId === null ? undefined : await placeOfMove(orgId);
  if (moving?.state === 'arriving') return null;
  return { cell: moving?.state === 'moved' ? moving.otherCell : ownCell()!, orgId };
}

/** Whether this cell has the organization to which the key belongs. Called for a request that another cell has forwarded to this cell. */
export async function isHere(key: RequestKey): Promise<boolean> {
  const orgId = await organizationOfKey(key);
  if (!orgId) return orgId === null;
  return (await placeOfMove(orgId))?.state !== 'moved';
}

/**
 * The other cell to which a request has to be forwarded. Null means that this cell answers the request, as it does for unknown keys.
 * @param address The client's network address.
 * @throws 503 when a cell that may know the key does not answer, 429 when too many unknown keys were sent from the client's network
 */
export async function otherPlaceOf(key: RequestKey, address: string): Promise<CellPlace | null> {
  const place = (await knownPlace(key)) ?? recall(key) ?? (await askOthers(key, networkOf(address)));
  return place?.cell === ownCell() ? null : place;
}

function recall(key: RequestKey): CellPlace | null {
  const found = remembered.get(textOf(key));
  return found && found.until > now() ? found : null;
}

async function askOthers(key: RequestKey, network: string): Promise<CellPlace | null> {
  const hold = await ((await failures.isOver(network)) ? guesses : questions).take(network);
  try {
    const place = await firstPlace(key);
    if (place === null) {
      await failures.take(network);
      return null;
    }
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(textOf(key), { ...place, until: now() + rememberedMs });
    return place;
  } finally {
    hold.release();
  }
}

const isUnknown = new Error('the cell has no record for the key');

/** The answer of the first cell that knows the key, so that slow cells do not delay the result; null when no cell knows the key. */
async function firstPlace(key: RequestKey): Promise<CellPlace | null> {
  const found = new AbortController();
  const signal = withTimeLimit(found.signal, answerMs);
  const ask = async (cell: string): Promise<CellPlace> => {
    const { status, body } = await askCell(cell, findPath, key, signal);
    if (status !== 200) throw new Error(`the cell ${cell} answered with status ${status}`);
    const { place } = z.object({ place: placeSchema.nullable() }).parse(body);
    if (place === null) throw isUnknown;
    return place;
  };
  try {
    return await Promise.any(otherCells().map(ask));
  } catch (error) {
    if ((error as AggregateError).errors.every((one) => one === isUnknown)) return null;
    throw upstreamUnavailable('A cell that may know this credential does not answer.', 5);
  } finally {
    found.abort();
  }
}

const placeSchema = z.object({
  cell: z.string().refine((cell) => cell === ownCell() || otherCells().includes(cell)),
  orgId: z.string().max(64).nullable(),
});
