// Settings of an installation that is one of several cells: all three or none (docs/cells.md).
import { z } from 'zod';
import { originOf } from '../http/addresses.ts';

const isRequired = 'is required because another CELL setting is given';
const isCellName = (name: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name);

/** The cells by name, from `eu=https://eu.example.com,us=https://us.example.com`; undefined if the text has any other form. */
function cellsIn(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = text.split(/[\s,]+/).map((pair) => {
    const [name = '', address = ''] = pair.split(/=(.*)/s, 2);
    return [name, originOf(address)] as const;
  });
  const isValid = pairs.every(([name, address]) => isCellName(name) && address !== undefined);
  const cells = new Map(pairs as [string, string][]);
  return isValid && pairs.length <= 50 && cells.size === pairs.length ? cells : undefined;
}

export const cellSettings = z.object({
  CELL_NAME: z.string(isRequired).refine(isCellName, 'must be 1 to 32 lower-case letters, digits and inner hyphens'),
  CELLS: z.string(isRequired).transform((text, context) => {
    const cells = cellsIn(text);
    if (cells) return cells;
    context.addIssue('must be name=origin of up to 50 cells, separated by commas, such as eu=https://eu.example.com');
    return z.NEVER;
  }),
  CELL_SECRET: z
    .string(isRequired)
    .regex(/^[\w+/=-]{43,200}$/, 'must be at least 32 bytes in base64, such as `openssl rand -base64 32` prints'),
});

type CellSettings = z.infer<typeof cellSettings>;

export interface CellConfig {
  /** Name of this cell. */
  readonly name: string;
  /** The origins of all cells by name. The first is the directory: it reserves slugs. */
  readonly cells: ReadonlyMap<string, string>;
  readonly secret: string;
}

export const cellsOf = (set: CellSettings): CellConfig =>
  Object.freeze({ name: set.CELL_NAME, cells: set.CELLS, secret: set.CELL_SECRET });

/** The error line of a cell that the list of cells does not name. */
export const unlistedCell = (set: CellSettings | undefined): string[] =>
  set && !set.CELLS.has(set.CELL_NAME) ? ['CELLS: must include the cell of CELL_NAME'] : [];
