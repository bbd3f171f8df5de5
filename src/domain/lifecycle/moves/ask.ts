// Requests that the two cells of a move send to each other.
import { minutes } from '#foundation/clock.ts';
import { askCell } from '#foundation/http/cells.ts';
import { MoveError } from './lock.ts';

/**
 * Asks the other cell about a move, or for a step of it.
 * @param refusal Ends the sentence "the cell …" in the message of a refusal, such as "refuses the organization"
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
