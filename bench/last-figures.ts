// Saves the ratios between the figures of the service and those of the other servers in figures.json, and compares the ratios of this run
// with the saved ones.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { median, type Ratio } from './measure.ts';

/**
 * Ratios of all comparisons. The outer keys are the names of the comparisons; the inner keys are the names of the servers with which the
 * service is compared.
 */
export type Ratios = Record<string, Record<string, Ratio>>;

const file = new URL('figures.json', import.meta.url);
/** The service may need this much more CPU time than last time, as a share of last time's: 0.1 means 10 %. */
const tolerance = 0.1;

export const readLastFigures = (): Ratios => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

/** Saves the ratios; comparisons that were not made this time keep their saved ratios. */
export const saveFigures = (ratios: Ratios): void =>
  writeFileSync(file, `${JSON.stringify({ ...readLastFigures(), ...ratios }, null, 2)}\n`);

/**
 * Returns a line of text for each comparison in which the service needs more CPU time, relative to the other servers, than last time.
 * Requests per second are not considered, because they depend on other load of the machine. A single other server may have become faster
 * itself, so the median of the changes relative to all other servers decides.
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
