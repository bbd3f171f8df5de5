// Saves the ratios of the service (figures.json), and compares the saved ratios with those of this run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { median, type Ratio } from './measure.ts';

/** Ratios by comparison, then by the other contender. */
export type Ratios = Record<string, Record<string, Ratio>>;

const file = new URL('figures.json', import.meta.url);
/** Permitted increase of CPU per piece of work. */
const tolerance = 0.1;

export const readLastFigures = (): Ratios => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

/** Saves the ratios; comparisons that were not made this time keep their saved ratios. */
export const saveFigures = (ratios: Ratios): void =>
  writeFileSync(file, `${JSON.stringify({ ...readLastFigures(), ...ratios }, null, 2)}\n`);

/**
 * A line for each comparison that has become worse. Only CPU time is compared, because requests per second depend on other load of the
 * machine. The median over all other contenders is compared, because a single contender may have become faster itself.
 */
export function regressions(last: Ratios, ratios: Ratios): string[] {
  return Object.entries(ratios).flatMap(([name, now]) => {
    const changes = Object.keys(now).flatMap((other) => {
      const before = last[name]?.[other];
      return before ? [now[other]!.cpu / before.cpu] : [];
    });
    if (changes.length === 0) return [];
    const change = median(changes);
    return change > 1 + tolerance ? [`${name}: ${Math.round((change - 1) * 100)} percent more CPU than last time`] : [];
  });
}
