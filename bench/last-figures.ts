// The ratios that the service had when they were last written down (figures.json), and whether those of this run are as good.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { median, type Ratio } from './measure.ts';

/** By comparison, then by the contender that the service is held against. */
export type Ratios = Record<string, Record<string, Ratio>>;

const file = new URL('figures.json', import.meta.url);
/** How much more CPU a piece of work may take than last time. */
const tolerance = 0.1;

export const readLastFigures = (): Ratios => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

/** Comparisons that were not made this time keep their figures. */
export const saveFigures = (ratios: Ratios): void =>
  writeFileSync(file, `${JSON.stringify({ ...readLastFigures(), ...ratios }, null, 2)}\n`);

/**
 * A line for each comparison that has become worse. CPU alone decides, because requests per second depend on what else the
 * machine does; and of several contenders their median, because one of them may be the one that has changed.
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
