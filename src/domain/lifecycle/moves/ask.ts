// Requests that the two cells of a move send to each other.
import { minutes } from '#foundation/clock.ts';
import { askCell } from '#foundation/http/cells.ts';
import { MoveError } from './lock.ts';

/**
 * Asks the other cell of a move about the state of the move, or asks it to carry out a step of the move.
 * @param refusal Words that follow the cell's name in the message of the MoveError, such as "refuses the organization"
 * @throws MoveError when the cell refuses; a problem with status 503 when the cell does not answer
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
