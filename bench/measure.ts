// One turn of one case on one server, and what is made of several turns.
import autocannon from 'autocannon';
import { bearer, type Case } from './cases.ts';
import type { Server } from './process.ts';

export interface Figures {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of the server process, user and system. */
  cpu: number;
}

/** Connections of the client, one request at a time on each. */
const usual = 16;

/** Loads the server for so many seconds. Throws when anything but a success comes back. */
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
  return { requestsPerSecond: times.length / elapsed, p50, p99, cpu: cpu / times.length };
}

/** The value below which such a share of the others is; they must be in their order. */
export const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)]!;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!;
}

const medianOf = (turns: Figures[], name: keyof Figures): number => median(turns.map((figures) => figures[name]));

/** The table of one case: a line per server. Ratios are medians over the rounds of what one round measured. */
export function table(name: string, servers: Server[], turns: Figures[][]): string {
  const [bare, fastify] = turns as [Figures[], Figures[]];
  const ratio = (of: Figures[], to: Figures[], figure: keyof Figures) =>
    median(of.map((figures, round) => figures[figure] / to[round]![figure]));
  const lines = turns.map((own, place) => [
    servers[place]!.name.padEnd(30),
    medianOf(own, 'requestsPerSecond').toFixed(0).padStart(6),
    medianOf(own, 'p50').toFixed(2).padStart(7),
    medianOf(own, 'p99').toFixed(2).padStart(7),
    medianOf(own, 'cpu').toFixed(0).padStart(7),
    ratio(own, bare, 'cpu').toFixed(2).padStart(8),
    ratio(own, fastify, 'requestsPerSecond').toFixed(2).padStart(12),
  ]);
  const head = [name.padEnd(30), ' req/s', ' p50 ms', ' p99 ms', ' CPU us', ' CPU/(a)', '   req/s/(b)'];
  return [head, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
