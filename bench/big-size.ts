// The numbers and names of the big database (big-database.ts).
import { days } from '#foundation/clock.ts';
import { idOf } from './database.ts';

/** The number that stands for the organization with most of the rows. The numbers of the other organizations are 1 to 10. */
export const big = 0;
export const others = 10;
/** Number of projects of each organization. The first project has six of every ten runs of its organization. */
export const projects = 5;
/** The runs are spread over this period. */
export const since = days(90);

/** Number of rows. Together there are a million missions. */
export interface Size {
  runs: number;
  runsOfOthers: number;
  sandboxes: number;
  /** Number of samples of each sandbox, except the one that ran for days. */
  samples: number;
  /** Number of samples of the sandbox that ran for days. */
  longest: number;
}

export const fullSize: Size = {
  runs: 900_000,
  runsOfOthers: 10_000,
  sandboxes: 10_000,
  samples: 990,
  longest: 100_000,
};

/** Number of runs of all organizations. */
export const runsOf = ({ runs, runsOfOthers }: Size): number => runs + others * runsOfOthers;

/**
 * Index of the sandbox that ran for days. Each of the other sandboxes with samples began a little later than the previous one, and the last 20
 * are still running.
 */
export const longest = ({ sandboxes }: Size): number => sandboxes - 100;

export const names = {
  project: idOf('prj', 0),
  /** The task to which six of every ten runs belong. */
  task: idOf('sch', 0),
  /** The agent of a quarter of all runs. */
  agent: idOf('agn', 0),
  /** Sandboxes with samples are numbered in the order in which they began. */
  sandbox: (n: number) => idOf('sbx', n),
};

/** SQL expression for the id of row `n`, which is an SQL expression too. */
export const id = (prefix: string, n: string) => `'${prefix}_' || lpad(to_hex(${n}), 32, '0')`;
