// Registers a cell: reserves the slugs of its organizations in the directory, because some organizations may be older than the division
// into cells.
import { askCell, directoryCell, ownCell } from '#foundation/http/cells.ts';
import { badGateway } from '#foundation/problem.ts';
import { organizationsAfter } from './operations.ts';
import { reserveSlug, slugPaths } from './reserved-slugs.ts';

/**
 * Reserves the slugs of all organizations of this cell. Returns the slugs that could not be reserved because organizations of other cells have
 * them. If every slug is reserved, this cell is registered. Organizations that are created meanwhile reserve their slugs themselves.
 */
export async function registerSlugs(): Promise<{ reserved: number; taken: string[] }> {
  const [cell, directory] = [ownCell(), directoryCell()];
  if (cell === null || directory === null) throw new Error('CELL_NAME is not set: this installation is not a cell');
  const taken: string[] = [];
  let reserved = 0;
  for (let page = await organizationsAfter(''); page.length > 0; page = await organizationsAfter(page.at(-1)!.id)) {
    for (const { id, slug } of page) {
      if (await reserveSlug(slug, id)) reserved++;
      else taken.push(slug);
    }
  }
  if (taken.length === 0 && cell !== directory) {
    const { status } = await askCell(directory, slugPaths.registered, {});
    if (status !== 200) throw badGateway(`The cell ${directory}, which reserves slugs, has answered ${status}.`);
  }
  return { reserved, taken };
}
