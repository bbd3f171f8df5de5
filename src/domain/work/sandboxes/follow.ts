// Changes of a sandbox for its subscribers: each fragment once and in order, and new metrics.
import type { Caller } from '#access/principal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { previewSizes } from '#limits.ts';
import { fragmentsFrom, fragmentsOf } from './fragments.ts';
import { desiredOf, type Sandbox, type SandboxFragment } from './model.ts';
import { findSandbox, type MetricPoint, metricsOf } from './operations.ts';

export interface SandboxUpdate {
  sandbox: Sandbox;
  fragments: SandboxFragment[];
  /** The sequence number of the next fragment. */
  nextFragment: number;
  metrics: MetricPoint[];
}

const metricsAfterSql = `select sandbox_id, at as t, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct from sandbox_metrics
  where sandbox_id = $1 and at > $2 order by at limit $3`;

/**
 * The sandbox with the fragments from number `after` on (null means the last 200) and its metrics so far, then the additions after each
 * change, until it has ended and everything has been sent. Each event is authorized with the caller's permissions at that time.
 */
export async function* followSandbox(
  changes: AsyncIterable<() => Promise<Caller>>,
  sandboxId: string,
  after: number | null,
): AsyncGenerator<SandboxUpdate> {
  let [nextFragment, lastMetric] = [after, null as number | null];
  for await (const currentCaller of changes) {
    let more: boolean;
    do {
      // The sandbox is read before its fragments. If it were read after them, it could receive more fragments and end between the two
      // reads, and these fragments would never be sent.
      const sandbox = await findSandbox(await currentCaller(), sandboxId);
      const [fragments, metrics] = await Promise.all([
        nextFragment === null ? fragmentsOf([sandboxId]) : fragmentsFrom(sandboxId, nextFragment),
        lastMetric === null
          ? metricsOf([sandboxId], previewSizes.metrics)
          : sql<MetricPoint>(metricsAfterSql, [sandboxId, lastMetric, previewSizes.metrics]),
      ]);
      more =
        (nextFragment !== null && fragments.length === previewSizes.fragments) ||
        (lastMetric !== null && metrics.length === previewSizes.metrics);
      const last = fragments.at(-1);
      if (last) nextFragment = last.seq + 1;
      nextFragment ??= 0;
      lastMetric = metrics.at(-1)?.t ?? lastMetric;
      yield { sandbox, fragments, nextFragment, metrics };
      if (!more && desiredOf(sandbox.status) === 'stop') return;
    } while (more);
  }
}
