// The operator's commands for installations that are cells (docs/cells.md).
import { z } from 'zod';
import { cancelMove, forgetMoved, moveOrganization, movingOrganization } from '#domain/lifecycle/moves/move.ts';
import { listMoves } from '#domain/organization/cells/state.ts';
import { registerSlugs } from '#domain/organization/organizations/register-slugs.ts';
import { type Command, command, flag } from './command.ts';
import { limit } from './credential-lists.ts';
import { slug } from './organization-option.ts';

export const cellCommands: Record<string, Command> = {
  'org:move': command({
    example: '--org acme --to us',
    about:
      'Moves an organization to another cell, which can be read meanwhile. An interrupted move loses nothing: repeat the command to continue. --cancel ends a move that has not ' +
      'reached the other cell.',
    options: z.object({
      org: slug,
      to: z.string().min(1).describe('The name of the other cell.').optional(),
      cancel: flag,
    }),
    run: async ({ org, to, cancel }) => {
      const organization = await movingOrganization(org);
      if (cancel) return cancelMove(organization.id);
      if (!to) throw new Error('--to: must be the name of the other cell');
      return moveOrganization(organization, to, (line) => console.error(line));
    },
  }),
  'org:moves': command({
    about: 'Lists the organizations that are moving from here or to here, and those that have moved to other cells.',
    options: z.object({ limit }),
    run: ({ limit: many }) => listMoves(many),
  }),
  'org:forget': command({
    example: '--org acme',
    about:
      'Removes the packed file of an organization that has moved to another cell. Its requests are still forwarded.',
    options: z.object({ org: slug }),
    run: ({ org }) => forgetMoved(org),
  }),
  'cell:register': command({
    about:
      'Reserves the slugs of all organizations of this cell in the directory, once, when an installation becomes a cell. Lists those that another cell has: repeat the command when they ' +
      'are renamed.',
    options: z.object({}),
    run: registerSlugs,
  }),
};
