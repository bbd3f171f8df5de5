// Questions of a move to the other cell.
import { minutes } from '#foundation/clock.ts';
import { askCell } from '#foundation/http/cells.ts';
import { MoveError } from './lock.ts';

/** Asks the cell a question of a move. @param refusal What the cell does when it refuses @throws MoveError when it refuses, 503 */
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

/** The reason that a cell has given. */
export const reasonGiven = (body: unknown): string =>
  (body as { description?: string } | null)?.description ?? 'no reason was given';
