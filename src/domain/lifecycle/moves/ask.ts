// Requests about a move, sent to the other cell.
import { minutes } from '#foundation/clock.ts';
import { askCell } from '#foundation/http/cells.ts';
import { MoveError } from './lock.ts';

/**
 * Sends a request about a move to the other cell.
 * @param refusal Describes a refusal, as the predicate of a sentence about the cell
 * @throws MoveError when the cell refuses, 503
 */
export async function askAboutMove(
  cell: string,
  path: string,
  question: object,
  refusal: string,
  limitMs = minutes(1),
) {
  const { status, body } = await askCell(cell, path, question, AbortSignal.timeout(limitMs));
  if (status !== 200) throw new MoveError(`${cell} ${refusal}: ${reasonGiven(body)}`);
}

/** The reason in a cell's response. */
export const reasonGiven = (body: unknown): string =>
  (body as { description?: string } | null)?.description ?? 'no reason was given';
