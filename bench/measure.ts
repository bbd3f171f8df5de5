// Measures one contender under load, and computes figures from several such measurements.
import autocannon from 'autocannon';
import { bearer, type Case, type Comparison } from './cases.ts';
import type { Server } from './process.ts';

export interface Figures {
  /** Pieces of work per second. A piece of work is one request, unless the case has several. */
  perSecond: number;
  /** Duration of a request in milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of CPU time, user and system, that the server process takes for a piece of work. */
  cpu: number;
}

/** Number of connections of the client, with one request at a time on each. */
const usual = 16;

/** Sends requests to the server for a number of seconds, and returns the figures. Throws at any unsuccessful response. */
export async function turn(server: Server, one: Case, seconds: number, connections = usual): Promise<Figures> {
  const times: number[] = [];
  const before = await server.cpu();
  const begun = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = { url: server.url, connections, duration: seconds, requests: one.requests };
    const run = autocannon({ ...options, headers: bearer(one.organization) }, (error, result) =>
      error ? reject(error) : resolve(result),
    );
    run.on('response', (_client, _status, _bytes, milliseconds) => times.push(milliseconds));
  });
  const elapsed = (performance.now() - begun) / 1_000;
  const cpu = (await server.cpu()) - before;
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${one.name} on ${server.name}: ${result.non2xx} refusals, ${result.errors} errors`);
  }
  times.sort((a, b) => a - b);
  const [p50, p99] = [at(times, 0.5), at(times, 0.99)];
  const done = times.length / (one.together ?? 1);
  return { perSecond: done / elapsed, p50, p99, cpu: cpu / done };
}

/** The value below which the given share of the sorted values lies. */
export const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)]!;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!;
}

/**
 * Compares the last server of a comparison with one other server. In each round, the figure of the last server is divided by the figure of the
 * other server. Each field is the median of these quotients.
 */
export interface Ratio {
  cpu: number;
  perSecond: number;
}

/**
 * Compares the last server with each of the other servers. The keys of the result are the names of the other servers. `turns` has the
 * figures of each server, round by round.
 */
export function ratiosOf({ contenders }: Comparison, turns: Figures[][]): Record<string, Ratio> {
  const last = turns.at(-1)!;
  const ratio = (to: Figures[], figure: keyof Figures) =>
    Number(median(last.map((figures, round) => figures[figure] / to[round]![figure])).toFixed(3));
  return Object.fromEntries(
    contenders.slice(0, -1).map(({ name }, place) => {
      const other = turns[place]!;
      return [name, { cpu: ratio(other, 'cpu'), perSecond: ratio(other, 'perSecond') }];
    }),
  );
}

/**
 * Formats the table of one comparison, with one line per server. The last two columns of a line have the figures of the last server divided
 * by the figures of the line's server.
 */
export function table(comparison: Comparison, turns: Figures[][]): string {
  const { name, contenders } = comparison;
  const ratios = ratiosOf(comparison, turns);
  const lines = turns.map((own, place) => {
    const figure = (of: keyof Figures, digits: number, width: number) =>
      median(own.map((figures) => figures[of]))
        .toFixed(digits)
        .padStart(width);
    const ratio = ratios[contenders[place]!.name];
    return [
      contenders[place]!.name.padEnd(34),
      figure('perSecond', 0, 8),
      figure('p50', 2, 7),
      figure('p99', 2, 7),
      figure('cpu', 0, 7),
      (ratio?.cpu.toFixed(2) ?? '').padStart(5),
      (ratio?.perSecond.toFixed(2) ?? '').padStart(8),
    ];
  });
  const head = [name.padEnd(34), 'a second', ' p50 ms', ' p99 ms', ' CPU us', 'CPU x', 'a second x'];
  return [head, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
