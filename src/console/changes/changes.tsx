// The page on which people review the change of a mission.
import './changes.css';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type ChangeReviewFragment,
  mergePullRequest,
  type ReviewVerdict,
  type RunChangeQuery,
  resolveReviewComment,
  runChange,
} from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Empty, Skeleton, Trouble } from '../kit/pieces.tsx';
import { useFresh } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';
import type { FileChange } from './diff-parse.ts';
import { useDraft, useStored } from './draft.ts';
import { FileDiff, type Thread, type ViewSettings } from './file-diff.tsx';
import { FileTree } from './file-tree.tsx';
import { PastReviews } from './past-reviews.tsx';
import { useReviewKeys } from './review-keys.ts';
import { SubmitReview } from './submit-review.tsx';
import { useDiff } from './use-diff.ts';

type ReviewedRun = NonNullable<RunChangeQuery['run']>;

export function Changes({ id: runId }: { id: string }) {
  const { data, problem, read } = useFresh(runChange, { runId });
  const run = data?.run;
  const heading = (
    <Heading
      title={run ? `Changes of ${run.missionTitle ?? 'the mission'}` : null}
      above={[
        [pageAt('/runs'), 'Missions'],
        [pageAt(`/runs/${runId}`), run?.missionTitle ?? 'Mission'],
      ]}
    />
  );
  if (!run) {
    return (
      <>
        {heading}
        {problem ? <Trouble problem={problem} retry={read} /> : <Skeleton rows={6} height={80} />}
      </>
    );
  }
  return (
    <>
      {heading}
      {problem && <Trouble problem={problem} retry={read} />}
      {run.changeDiff ? <Review run={run} read={read} /> : <NoChange run={run} />}
    </>
  );
}

function NoChange({ run: { headSha, status } }: { run: ReviewedRun }) {
  const isOpen = status === 'running' || status === 'dispatching';
  return (
    <Empty>
      {headSha !== null
        ? 'The diff is no longer stored, or the runtime reported none. The branch has the commits.'
        : isOpen
          ? 'The agent has not pushed a commit yet. Its changes appear here at the end of a step.'
          : 'The mission changed nothing in the repository.'}
    </Empty>
  );
}

const plain: ViewSettings = { isSplit: false, ignoresSpace: false, wraps: true };
/** A view side by side needs this width. */
const wide = matchMedia('(min-width: 900px)');

function useViewSettings() {
  const [stored, change] = useStored<ViewSettings>('diff view', () => ({ ...plain, isSplit: wide.matches }));
  const [isWide, setWide] = useState(wide.matches);
  useEffect(() => {
    const listen = () => setWide(wide.matches);
    wide.addEventListener('change', listen);
    return () => wide.removeEventListener('change', listen);
  }, []);
  const view = useMemo(() => ({ ...stored, isSplit: stored.isSplit && isWide }), [stored, isWide]);
  return { view, isWide, change };
}

function Review({ run, read }: { run: ReviewedRun; read(): void }) {
  const { files, hasFailed, read: readDiff } = useDiff(run.changeDiff);
  const { view, isWide, change } = useViewSettings();
  const draft = useDraft(run.id);
  const [viewed, setViewed] = useStored<Record<string, string>>(`viewed ${run.projectId} ${run.branch}`, () => ({}));
  const [dialog, setDialog] = useState<ReviewVerdict | null>(null);
  const [said, say] = useState<ChangeReviewFragment | null>(null);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const mayReview = may('missions:run') && run.headSha !== null;
  const threads = useMemo(() => threadsByPath(run.reviews), [run.reviews]);
  const isViewed = useCallback((file: FileChange) => viewed[file.path] === file.digest, [viewed]);
  const mark = (file: FileChange, is: boolean) =>
    setViewed(({ [file.path]: _, ...others }) => (is ? { ...others, [file.path]: file.digest } : others));
  const resolve = async (commentId: string, isResolved: boolean) => {
    try {
      await ask(resolveReviewComment, { commentId, isResolved });
      setProblem(null);
    } catch (error) {
      setProblem(problemOf(error));
    }
    read();
  };
  const list = useRef<HTMLDivElement>(null);
  useReviewKeys(list, mayReview ? setDialog : null);
  if (!files) {
    return hasFailed ? <Trouble problem={downloadFailed} retry={readDiff} /> : <Skeleton rows={6} height={80} />;
  }
  const drafts = draft.draft.comments;
  const commentsOn = (path: string) =>
    (threads.get(path) ?? []).filter(({ comment }) => comment.resolvedAt === null).length +
    drafts.filter((one) => one.path === path).length;
  return (
    <>
      {problem && <Trouble problem={problem} />}
      <Summary run={run} files={files} viewedCount={files.filter(isViewed).length}>
        <Choices view={view} isWide={isWide} change={change} />
        {mayReview && (
          <button
            type="button"
            class="slim"
            onClick={() => setDialog(run.status === 'completed' ? 'approve' : 'request_changes')}
          >
            Review changes{drafts.length > 0 && ` (${drafts.length})`}
          </button>
        )}
        {mayReview && run.outcome?.prState === 'open' && <Merge run={run} read={read} />}
      </Summary>
      {said && <Submitted review={said} runId={run.id} />}
      {run.reviews.length > 0 && <PastReviews reviews={run.reviews} files={files} onResolve={resolve} />}
      <div class="review">
        <details class="review-files panel" open={isWide}>
          <summary>Files</summary>
          <FileTree files={files} isViewed={isViewed} commentsOn={commentsOn} />
        </details>
        <div class="review-diff" ref={list}>
          {files.map((file) => (
            <FileDiff
              key={file.path}
              file={file}
              view={view}
              threads={threads.get(file.path) ?? []}
              draft={draft}
              mayComment={mayReview}
              isViewed={isViewed(file)}
              isChangedSinceViewed={viewed[file.path] !== undefined && !isViewed(file)}
              onViewed={(is) => mark(file, is)}
              onResolve={resolve}
            />
          ))}
        </div>
      </div>
      {dialog && run.headSha !== null && (
        <SubmitReview
          run={{ id: run.id, headSha: run.headSha }}
          draft={draft}
          first={dialog}
          onClose={() => setDialog(null)}
          onSubmitted={(review) => {
            setDialog(null);
            say(review);
            read();
          }}
        />
      )}
    </>
  );
}

const downloadFailed: ProblemBody = {
  title: 'The diff could not be read',
  description: 'The file may have expired, or the connection failed.',
  retryable: true,
};

function threadsByPath(reviews: readonly ChangeReviewFragment[]): ReadonlyMap<string, Thread[]> {
  const byPath = new Map<string, Thread[]>();
  for (const review of reviews)
    for (const comment of review.comments)
      byPath.set(comment.path, [...(byPath.get(comment.path) ?? []), { review, comment }]);
  return byPath;
}

interface SummaryProperties {
  run: ReviewedRun;
  files: readonly FileChange[];
  viewedCount: number;
  children: ComponentChildren;
}

function Summary({ run, files, viewedCount, children }: SummaryProperties) {
  const sum = (of: (file: FileChange) => number) => files.reduce((total, file) => total + of(file), 0);
  const all = run.outcome?.files ?? files.length;
  return (
    <div class="review-bar">
      <div>
        <strong>{plural(files.length, 'file')}</strong>{' '}
        <span class="added">+{sum(({ insertions }) => insertions)}</span>{' '}
        <span class="removed">−{sum(({ deletions }) => deletions)}</span>{' '}
        <span class="muted small">
          {viewedCount} of {files.length} viewed
          {run.branch && (
            <>
              , branch <code>{run.branch}</code>
            </>
          )}
          {run.prUrl && (
            <>
              , <a href={run.prUrl}>pull request #{run.prNumber}</a> {run.outcome?.prState}
            </>
          )}
        </span>
        {files.length < all && (
          <p class="note">
            The change has {all} files: the first {files.length} are stored for display. The branch has all of them.
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

function Choices({ view, isWide, change }: ChoicesProperties) {
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

function Merge({ run, read }: { run: ReviewedRun; read(): void }) {
  return (
    <Action
      label="Merge"
      describes={`Merge pull request #${run.prNumber}`}
      class="slim"
      question={`Pull request #${run.prNumber} is merged into its base branch at commit ${run.headSha!.slice(0, 7)}.`}
      act={async () => {
        await ask(mergePullRequest, { runId: run.id, headSha: run.headSha! });
        read();
      }}
    />
  );
}

const submitted: Record<ReviewVerdict, string> = {
  approve: 'You approved the change.',
  comment: 'Your comments are stored.',
  request_changes: 'The agent has your review.',
};

function Submitted({ review: { verdict, answeringRunId }, runId }: { review: ChangeReviewFragment; runId: string }) {
  return (
    <div role="status">
      <p class="note good">
        {submitted[verdict]}{' '}
        {answeringRunId !== null && answeringRunId !== runId && (
          <a href={pageAt(`/runs/${answeringRunId}`)}>Follow the mission that continues</a>
        )}
      </p>
    </div>
  );
}
