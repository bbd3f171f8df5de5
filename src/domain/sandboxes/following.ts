// What is new of a sandbox, for those who watch it: each fragment once and in its order, and its metrics as they come.
import type { Caller } from '#access/principal.ts';
import type { Row } from '#foundation/base-model.ts';
import { sql } from '#foundation/database.ts';
import { shown } from '#limits.ts';
import { desiredOf, type Sandbox, type SandboxFragment } from './model.ts';
import { findSandbox, fragmentsOf, type MetricPoint, metricsOf } from './operations.ts';

export interface SandboxUpdate {
  sandbox: Row<Sandbox>;
  fragments: SandboxFragment[];
  /** The number of the fragment that comes next. */
  nextFragment: number;
  metrics: MetricPoint[];
}

const fragments = `select sandbox_id, seq, kind, at, body, action, parameter, result, tool_use_id, items from sandbox_fragments
  where sandbox_id = $1 and seq >= $2 order by seq limit $3`;
const metrics = `select sandbox_id, at as t, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct from sandbox_metrics
  where sandbox_id = $1 and at > $2 order by at limit $3`;

/**
 * The sandbox with the fragments from number `after` on (null: the last 200) and its curve so far; then after each change what
 * came since; until it has ended and all is told. Each change tells who is asking by then.
 */
export async function* followSandbox(
  changes: AsyncIterable<() => Promise<Caller>>,
  sandboxId: string,
  after: number | null,
): AsyncGenerator<SandboxUpdate> {
  let [nextFragment, lastMetric] = [after, null as number | null];
  for await (const asking of changes) {
    let more: boolean;
    do {
      // First the sandbox: what was said before its end is there when the end is seen.
      const sandbox = await findSandbox(await asking(), sandboxId);
      const [said, measured] = await Promise.all([
        nextFragment === null
          ? fragmentsOf([sandboxId])
          : sql<SandboxFragment>(fragments, [sandboxId, nextFragment, shown.fragments]),
        lastMetric === null
          ? metricsOf([sandboxId], shown.metrics)
          : sql<MetricPoint>(metrics, [sandboxId, lastMetric, shown.metrics]),
      ]);
      more =
        (nextFragment !== null && said.length === shown.fragments) ||
        (lastMetric !== null && measured.length === shown.metrics);
      const last = said.at(-1);
      if (last) nextFragment = last.seq + 1;
      nextFragment ??= 0;
      lastMetric = measured.at(-1)?.t ?? lastMetric;
      yield { sandbox, fragments: said, nextFragment, metrics: measured };
      if (!more && desiredOf(sandbox.status) === 'stop') return;
    } while (more);
  }
}
