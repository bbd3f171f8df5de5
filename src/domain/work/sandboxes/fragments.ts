// Reads the fragments of sandboxes. Fragments of ended sandboxes may also be in the archives of their runs.
import { type Page, type PageRequest, packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf, selectionOf } from '#foundation/postgres/reads.ts';
import { previewSizes, report } from '#limits.ts';
import { archivedFragmentsOf } from './archives.ts';
import { SandboxFragment } from './model.ts';
import { closePlans } from './plans.ts';

const newestFragmentsSql = `select ${columnsOf(SandboxFragment, 'f')} from unnest($1::text[]) parent (id) cross join lateral (
    ${selectionOf(SandboxFragment)}
    where sandbox_id = parent.id order by seq desc limit $2) f
  order by f.seq`;

/** The newest fragments of each sandbox, oldest first. */
export async function fragmentsOf(sandboxIds: readonly string[]): Promise<SandboxFragment[]> {
  const rows = await sql<SandboxFragment>(newestFragmentsSql, [sandboxIds, previewSizes.fragments]);
  const archived = await archivedFragmentsOf(sandboxIds);
  const live = rows.filter(({ sandboxId, seq }) => seq >= archived(sandboxId).next);
  const earlier = await Promise.all(
    [...new Set(sandboxIds)].map((id) => {
      const { next, read } = archived(id);
      const missing = previewSizes.fragments - live.filter(({ sandboxId }) => sandboxId === id).length;
      return missing > 0 ? read(next - missing, next) : [];
    }),
  );
  return closePlans([...earlier.flat(), ...live], (id) => archived(id).lastPlan);
}

const fragmentPageSql = `${selectionOf(SandboxFragment)}
  where sandbox_id = $1 and seq < $2 order by seq desc limit $3`;

/** A page of the fragments of a sandbox: the newest page first, each page oldest first. */
export async function listFragments(sandboxId: string, { limit, cursor }: PageRequest): Promise<Page<SandboxFragment>> {
  const binding = `fragments\n${sandboxId}`;
  const before = cursor == null ? report.fragmentsPerSandbox : unpackCursor(binding, cursor)[0];
  const rows = await sql<SandboxFragment>(fragmentPageSql, [sandboxId, before, limit + 1]);
  const { next, lastPlan, read } = (await archivedFragmentsOf([sandboxId]))(sandboxId);
  const live = rows.filter(({ seq }) => seq >= next).reverse();
  const end = Math.min(next, before);
  const missing = limit + 1 - live.length;
  const found = [...(missing > 0 ? await read(end - missing, end) : []), ...live];
  const data = found.slice(-limit);
  const nextCursor = found.length > limit ? packCursor(binding, data[0]!.seq, sandboxId) : null;
  return { data: await closePlans(data, () => lastPlan), nextCursor };
}

const fragmentsFromSql = `${selectionOf(SandboxFragment)}
  where sandbox_id = $1 and seq >= $2 order by seq limit $3`;

/** The fragments of a sandbox whose numbers are `from` or higher, in order, at most `previewSizes.fragments` of them. */
export async function fragmentsFrom(sandboxId: string, from: number): Promise<SandboxFragment[]> {
  const rows = await sql<SandboxFragment>(fragmentsFromSql, [sandboxId, from, previewSizes.fragments]);
  const { next, lastPlan, read } = (await archivedFragmentsOf([sandboxId]))(sandboxId);
  const archived = from < next ? await read(from, Math.min(next, from + previewSizes.fragments)) : [];
  const found = [...archived, ...rows.filter(({ seq }) => seq >= next)].slice(0, previewSizes.fragments);
  return closePlans(found, () => lastPlan);
}
