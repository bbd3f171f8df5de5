// The operator's commands for installations that are cells (docs/cells.md).
import { z } from 'zod';
import { organizationsAfter } from '#domain/organization/organizations/operations.ts';
import { reserveSlug } from '#domain/organization/organizations/reserved-slugs.ts';
import { ownCell } from '#foundation/http/cells.ts';
import { type Command, command } from './command.ts';

export const cellCommands: Record<string, Command> = {
  'cell:register': command({
    about:
      'Reserves the slugs of all organizations of this cell in the directory, once, when an existing installation becomes a cell. Lists those that another cell has.',
    options: z.object({}),
    run: async () => {
      if (ownCell() === null) throw new Error('CELL_NAME is not set: this installation is not a cell');
      const taken: string[] = [];
      let reserved = 0;
      for (let after = ''; ; ) {
        const organizations = await organizationsAfter(after);
        for (const { id, slug } of organizations) {
          if (await reserveSlug(slug, id)) reserved++;
          else taken.push(slug);
        }
        const last = organizations.at(-1);
        if (!last) return { reserved, taken };
        after = last.id;
      }
    },
  }),
};
