// Closes the last plan of a sandbox that has ended: a step in progress gets the outcome of the sandbox, and a pending step is skipped. The
// plan is closed whenever it is read, and not once when the sandbox ends, because the runtime may still send reports after the end of the
// sandbox, or may be lost.
import { sql } from '#foundation/postgres/database.ts';
import type { Sandbox, SandboxFragment, SandboxStatus } from './model.ts';

type Ended = Extract<SandboxStatus, 'destroyed' | 'completed' | 'failed'>;
const ends: Record<Ended, string> = { completed: 'completed', failed: 'failed', destroyed: 'canceled' };

const endedSql = `select p.sandbox_id, s.status from unnest($1::text[], $2::int[]) p (sandbox_id, seq)
  join sandboxes s on s.id = p.sandbox_id and s.status <> 'running'
  where not exists (select from sandbox_fragments f where f.sandbox_id = p.sandbox_id and f.seq > p.seq and f.kind = 'plan')`;

const isOpen = ({ status }: { status: string }): boolean => status === 'pending' || status === 'in_progress';

/**
 * Returns the given fragments, which must be sorted by age for each sandbox, oldest first. If a sandbox has ended, the open steps of its
 * last plan get their final statuses.
 * @param lastArchived Returns the number of the last plan that the archives contain for a sandbox; -1 if they contain none
 */
export async function closePlans(
  fragments: SandboxFragment[],
  lastArchived: (sandboxId: string) => number,
): Promise<SandboxFragment[]> {
  const last = new Map(fragments.filter(({ kind }) => kind === 'plan').map((plan) => [plan.sandboxId, plan]));
  const open = [...last.values()].filter(
    ({ sandboxId, seq, items }) => seq >= lastArchived(sandboxId) && items.some(isOpen),
  );
  if (open.length === 0) return fragments;
  const ended = await sql<{ sandboxId: Sandbox['id']; status: Ended }>(endedSql, [
    open.map(({ sandboxId }) => sandboxId),
    open.map(({ seq }) => seq),
  ]);
  const closed = new Map(ended.map(({ sandboxId, status }) => [last.get(sandboxId), ends[status]]));
  return fragments.map((fragment) => {
    const end = closed.get(fragment);
    return end ? { ...fragment, items: fragment.items.map((item) => closeItem(item, end)) } : fragment;
  });
}

const closeItem = (item: SandboxFragment['items'][number], end: string) =>
  isOpen(item) ? { ...item, status: item.status === 'pending' ? 'skipped' : end } : item;
