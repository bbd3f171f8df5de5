// The bar above a change: its size and the view settings.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { mergePullRequest, type RunChangeQuery } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { useMedia } from '../kit/media.ts';
import { Action } from '../kit/pieces.tsx';
import { useStored } from '../kit/stored.ts';
import { plural } from '../kit/words.tsx';
import type { FileChange } from './diff-parse.ts';
import type { ViewSettings } from './file-properties.ts';

export type ReviewedRun = NonNullable<RunChangeQuery['run']>;

const plain: ViewSettings = { isSplit: false, ignoresSpace: false, wraps: true };
/** Minimum width for the side-by-side view. */
const wide = matchMedia('(min-width: 900px)');

export function useViewSettings() {
  const [stored, change] = useStored<ViewSettings>('diff view', () => ({ ...plain, isSplit: wide.matches }));
  const isWide = useMedia(wide);
  const view = useMemo(() => ({ ...stored, isSplit: stored.isSplit && isWide }), [stored, isWide]);
  return { view, isWide, change };
}

interface SummaryProperties {
  run: ReviewedRun;
  files: readonly FileChange[];
  /** Number of files marked as viewed; null for a single commit, whose files cannot be marked. */
  viewedCount: number | null;
  children: ComponentChildren;
}

export function Summary({ run, files, viewedCount, children }: SummaryProperties) {
  const sum = (of: (file: FileChange) => number) => files.reduce((total, file) => total + of(file), 0);
  const all = run.outcome?.files ?? files.length;
  return (
    <div class="review-bar">
      <div>
        <strong>{plural(files.length, 'file')}</strong>{' '}
        <span class="added">+{sum(({ insertions }) => insertions)}</span>{' '}
        <span class="removed">−{sum(({ deletions }) => deletions)}</span>{' '}
        <span class="muted small">
          {viewedCount !== null && `${viewedCount} of ${files.length} viewed`}
          {run.branch && (
            <>
              {viewedCount !== null && ', '}branch <code>{run.branch}</code>
            </>
          )}
          {run.prUrl && (
            <>
              , <a href={run.prUrl}>pull request #{run.prNumber}</a> {run.outcome?.prState}
            </>
          )}
        </span>
        {viewedCount !== null && files.length < all && (
          <p class="note">
            The change has {all} files. Only the first {files.length} are shown here; see the branch for all of them.
          </p>
        )}
      </div>
      <div class="decisions">{children}</div>
    </div>
  );
}

interface ChoicesProperties {
  view: ViewSettings;
  isWide: boolean;
  change(to: (before: ViewSettings) => ViewSettings): void;
}

export function Choices({ view, isWide, change }: ChoicesProperties) {
  const toggle = (name: keyof ViewSettings, label: string) => (
    <button
      type="button"
      class="quiet slim toggle"
      aria-pressed={view[name]}
      onClick={() => change((before) => ({ ...before, [name]: !before[name] }))}
    >
      {label}
    </button>
  );
  return (
    <>
      {isWide && toggle('isSplit', 'Side by side')}
      {toggle('ignoresSpace', 'Ignore white space')}
      {toggle('wraps', 'Wrap lines')}
    </>
  );
}

export function Merge({ run, read }: { run: ReviewedRun; read(): void }) {
  return (
    <Action
      label="Merge"
      describes={`Merge pull request #${run.prNumber}`}
      dataKey="m"
      class="slim"
      question={`Pull request #${run.prNumber} is merged into its base branch at commit ${run.headSha!.slice(0, 7)}.`}
      act={async () => {
        await ask(mergePullRequest, { runId: run.id, headSha: run.headSha! });
        read();
      }}
    />
  );
}
