// Selects missions for bulk actions: one mission, a range with Shift, or all missions that the list shows.
import { useRef, useState } from 'preact/hooks';
import { cancelRun } from '../generated/documents.ts';
import { rerun } from '../missions/rerun.ts';
import { mutate } from './client.ts';
import { Action } from './pieces.tsx';
import { plural } from './words.tsx';

/** Selection among these rows; rows that are no longer shown are not selected. */
export function useSelection(ids: readonly string[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const selected = ids.filter((id) => chosen.has(id));
  const set = (changed: readonly string[], isSelected: boolean) => {
    const next = new Set(selected);
    for (const id of changed) {
      if (isSelected) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  };
  return {
    selected,
    has: (id: string) => chosen.has(id),
    select(id: string, isSelected: boolean, isRange: boolean): void {
      const [from, to] = [last.current === null ? -1 : ids.indexOf(last.current), ids.indexOf(id)];
      const range = isRange && from >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
      last.current = id;
      set(range, isSelected);
    },
    selectAll: (isSelected: boolean) => set(ids, isSelected),
    clear: () => setChosen(new Set()),
  };
}

export function SelectAll({ shown, selection }: { shown: number; selection: ReturnType<typeof useSelection> }) {
  const { selected } = selection;
  return (
    <label class="select-all">
      <input
        type="checkbox"
        checked={shown > 0 && selected.length === shown}
        indeterminate={selected.length > 0 && selected.length < shown}
        disabled={shown === 0}
        onChange={({ currentTarget }) => selection.selectAll(currentTarget.checked)}
      />
      Select all {shown} shown
    </label>
  );
}

interface BulkProperties {
  selected: readonly string[];
  clear(): void;
  read(): void;
}

/** Acts on one mission after another. A failure stops the loop, and does not undo the earlier actions. */
export function Bulk({ selected, clear, read }: BulkProperties) {
  const each = async (act: (runId: string) => Promise<unknown>) => {
    try {
      for (const runId of selected) await act(runId);
      clear();
    } finally {
      read();
    }
  };
  return (
    <div class="decisions">
      <span role="status">{plural(selected.length, 'mission')} selected</span>
      <Action
        label="Run again"
        describes="Run again: selected missions"
        act={(key) => each((runId) => rerun(runId, `${key} ${runId}`))}
      />
      <Action
        label="Cancel"
        describes="Cancel the selected missions"
        class="danger slim"
        question={`${plural(selected.length, 'mission')} and their sandboxes end at once. Ended missions are unchanged.`}
        act={(key) => each((runId) => mutate(cancelRun, { runId }, `${key} ${runId}`).catch(ignoreEnded))}
      />
      <button type="button" class="quiet slim" onClick={clear}>
        Clear
      </button>
    </div>
  );
}

/** A mission that has already ended cannot be canceled, and need not be. */
function ignoreEnded(error: unknown): void {
  const { problem } = error as { problem?: { code?: string } };
  if (problem?.code !== 'conflict') throw error;
}
