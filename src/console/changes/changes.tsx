// The page on which people review the change of a mission.
import './changes.css';
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { Effects } from '../effects/effects.tsx';
import { type ChangeReviewFragment, type ReviewVerdict, runChange } from '../generated/documents.ts';
import type { ProblemBody } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Empty, ErrorNote, Loading, Skeleton } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { useStored } from '../kit/stored.ts';
import { CommitNote, Commits, useCommit } from './commits.tsx';
import { type FileChange, parseDiff } from './diff-parse.ts';
import { useDraft } from './draft.ts';
import { FileDiff } from './file-diff.tsx';
import { FileTree } from './file-tree.tsx';
import { PastReviews } from './past-reviews.tsx';
import { Choices, Merge, type ReviewedRun, Summary, useViewSettings } from './review-bar.tsx';
import { useReviewKeys } from './review-keys.ts';
import { RequestChanges, SubmitReview } from './submit-review.tsx';
import { useThreadActions } from './thread-actions.ts';
import { type Thread, threadsByPath } from './threads.ts';
import { useArtifact } from './use-artifact.ts';
import { useVersion, Versions } from './versions.tsx';

export function Changes({ id: runId }: { id: string }) {
  const { data, problem, read } = usePolledReading(runChange, { runId });
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
        <Loading problem={problem} retry={read} rows={6} height={80} />
      </>
    );
  }
  return (
    <>
      {heading}
      {problem && <ErrorNote problem={problem} retry={read} />}
      <Effects runId={run.id} />
      {run.changeDiff ? <Review run={run} read={read} /> : <NoChange run={run} />}
    </>
  );
}

function NoChange({ run: { headSha, status } }: { run: ReviewedRun }) {
  const isOpen = status === 'running' || status === 'dispatching';
  return (
    <Empty>
      {headSha !== null
        ? 'The diff has expired, or the runtime reported none. See the commits on the branch.'
        : isOpen
          ? 'The agent has not pushed a commit yet. Its changes appear here at the end of a step.'
          : 'The mission changed nothing in the repository.'}
    </Empty>
  );
}

function Review({ run, read }: { run: ReviewedRun; read(): void }) {
  const { earlier, diff, version } = useVersion(run);
  const whole = useArtifact(diff, parseDiff);
  const choice = useCommit(version?.commitsArtifact ?? null);
  const { commit } = choice;
  const { view, isWide, change } = useViewSettings();
  const draft = useDraft(run.id);
  const [viewed, setViewed] = useStored<Record<string, string>>(`viewed ${run.projectId} ${run.branch}`, () => ({}));
  const [dialog, setDialog] = useState<ReviewVerdict | null>(null);
  const [said, say] = useState<ChangeReviewFragment | null>(null);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const mayReview = may('missions:run') && run.headSha !== null && !earlier && !commit;
  const threads = useMemo(
    () => (commit ? new Map<string, Thread[]>() : threadsByPath(run.reviews, run.hostThreads)),
    [run.reviews, run.hostThreads, commit],
  );
  const isViewed = useCallback((file: FileChange) => !commit && viewed[file.path] === file.digest, [viewed, commit]);
  const mark = (file: FileChange, is: boolean) =>
    setViewed(({ [file.path]: _, ...others }) => (is ? { ...others, [file.path]: file.digest } : others));
  const actions = useThreadActions(run.id, read, setProblem);
  const list = useRef<HTMLDivElement>(null);
  useReviewKeys(list, mayReview ? setDialog : null);
  const files = commit ? choice.files : whole.content;
  const drafts = commit ? [] : draft.draft.comments;
  const tree = useMemo(() => {
    const commentsOn = (path: string) =>
      (threads.get(path) ?? []).filter(({ comment }) => !comment.isResolved).length +
      drafts.filter((one) => one.path === path).length;
    return <FileTree files={files ?? []} isViewed={isViewed} commentsOn={commentsOn} />;
  }, [files, isViewed, threads, drafts.map(({ path }) => path).join('\n')]);
  if (!files || choice.isReading) {
    return whole.hasFailed ? (
      <ErrorNote problem={downloadFailed} retry={whole.read} />
    ) : (
      <Skeleton rows={6} height={80} />
    );
  }
  const submitted = (review: ChangeReviewFragment) => {
    setDialog(null);
    say(review);
    read();
  };
  return (
    <>
      {problem && <ErrorNote problem={problem} />}
      <Summary run={run} files={files} viewedCount={commit ? null : files.filter(isViewed).length}>
        <Versions run={run} />
        <Choices view={view} isWide={isWide} change={change} />
        {mayReview && (
          <RequestChanges run={{ id: run.id, headSha: run.headSha! }} draft={draft} onSubmitted={submitted} />
        )}
        {mayReview && (
          <button
            type="button"
            class={drafts.length > 0 ? 'quiet slim' : 'slim'}
            onClick={() => setDialog(drafts.length === 0 && run.status === 'completed' ? 'approve' : 'request_changes')}
          >
            Review changes{drafts.length > 0 && ` (${drafts.length})`}
          </button>
        )}
        {mayReview && run.outcome?.prState === 'open' && <Merge run={run} read={read} />}
      </Summary>
      {earlier && (
        <p class="note">This is an earlier version of the change. You can comment only on the newest version.</p>
      )}
      {version?.commitsArtifact && <Commits choice={choice} count={version.commits} />}
      <CommitNote choice={choice} />
      {said && <Submitted review={said} runId={run.id} />}
      {!commit && <PastReviews reviews={run.reviews} files={files} threads={threads} actions={actions} />}
      <div class="review">
        <details class="review-files panel" open={isWide}>
          <summary>Files</summary>
          {tree}
        </details>
        <div class="review-diff" ref={list}>
          {files.map((file, i) => (
            <FileDiff
              key={`${commit?.sha} ${file.path}`}
              index={i}
              runId={run.id}
              file={file}
              view={view}
              threads={threads.get(file.path) ?? none}
              draft={draft}
              mayComment={mayReview}
              isOfCommit={commit !== null}
              isViewed={isViewed(file)}
              isChangedSinceViewed={!commit && viewed[file.path] !== undefined && !isViewed(file)}
              onViewed={(is) => mark(file, is)}
              actions={actions}
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
          onSubmitted={submitted}
        />
      )}
    </>
  );
}

const none: readonly Thread[] = [];

const downloadFailed: ProblemBody = {
  title: 'The diff could not be read',
  description: 'The file may have expired, or the connection failed.',
  retryable: true,
};

const verdictWords: Record<ReviewVerdict, string> = {
  approve: 'You approved the change.',
  comment: 'Your comments are stored.',
  request_changes: 'The agent has your review.',
};

function Submitted({ review: { verdict, answeringRunId }, runId }: { review: ChangeReviewFragment; runId: string }) {
  return (
    <div role="status">
      <p class="note good">
        {verdictWords[verdict]}{' '}
        {answeringRunId !== null && answeringRunId !== runId && (
          <a href={pageAt(`/runs/${answeringRunId}`)}>Open the mission that works on your review</a>
        )}
      </p>
    </div>
  );
}
