// The choice of a single commit, whose diff the page shows instead of the diff of the whole change.
import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useFilter, useFilters } from '../kit/reading.ts';
import { plural, Time, visible } from '../kit/words.tsx';
import { type FileChange, parseDiff } from './diff-parse.ts';
import { type ChangeArtifact, type Loaded, useArtifact } from './use-artifact.ts';

/** A commit in the list that the runtime reported (`ChangeVersion.commitsArtifact`). */
interface Commit {
  sha: string;
  subject: string;
  author: string;
  authoredAt: number;
  patch: string | null;
}

/** The latest time that JavaScript can show; dates of commits may be later. */
const maxTime = 8.64e15;

function parseCommits(text: string): Commit[] {
  const commits: Commit[] = JSON.parse(text);
  return commits.map((commit) => ({ ...commit, authoredAt: Math.max(-maxTime, Math.min(commit.authoredAt, maxTime)) }));
}

export interface CommitChoice {
  /** The commit that the URL names; null for the whole change. */
  sha: string | null;
  isReading: boolean;
  /** Null while the commits are being read, and when this version of the change does not contain the commit. */
  commit: Commit | null;
  files: readonly FileChange[];
  list: Loaded<Commit[]>;
  open(): void;
}

/** The list is read once a person opens it, or when the URL names a commit. */
export function useCommit(artifact: ChangeArtifact): CommitChoice {
  const [named] = useFilter('commit');
  const sha = artifact && named;
  const [isOpened, setOpened] = useState(false);
  const list = useArtifact(sha || isOpened ? artifact : null, parseCommits);
  const commit = (sha && list.content?.find((one) => one.sha.startsWith(sha))) || null;
  const files = useMemo(() => parseDiff(commit?.patch ?? ''), [commit]);
  const isReading = sha !== null && !list.content && !list.hasFailed;
  return { sha, isReading, commit, files, list, open: () => setOpened(true) };
}

interface Properties {
  choice: CommitChoice;
  /** Number of commits in the change, as counted by the runtime; null when unknown. */
  count: number | null;
}

export function Commits({ choice: { sha, list, open }, count }: Properties) {
  const { path, query } = useLocation();
  const commits = list.content;
  return (
    <details class="panel commits" open={sha !== null} onToggle={({ currentTarget }) => currentTarget.open && open()}>
      <summary>{count === null ? 'Commits' : plural(count, 'commit')}</summary>
      {list.hasFailed && (
        <p class="note">
          The commits could not be read.{' '}
          <button type="button" class="quiet slim" onClick={list.read}>
            Try again
          </button>
        </p>
      )}
      {!commits && !list.hasFailed && <p class="muted small">Loading …</p>}
      {commits && count !== null && count > commits.length && (
        <p class="muted small">Only the newest {commits.length} commits are listed.</p>
      )}
      <ol>
        {commits?.map((commit) => (
          <li key={commit.sha}>
            <a
              href={`${path}?${new URLSearchParams({ ...query, commit: commit.sha })}`}
              aria-current={sha !== null && commit.sha.startsWith(sha)}
            >
              <code>{commit.sha.slice(0, 7)}</code> <bdi>{visible(commit.subject) || 'No message'}</bdi>
            </a>{' '}
            <span class="muted small">
              <bdi>{visible(commit.author)}</bdi>, <Time at={commit.authoredAt} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Tells the person that the page shows only one commit, and offers to show the whole change. Renders nothing if no commit is chosen. */
export function CommitNote({ choice: { sha, commit, list, files } }: { choice: CommitChoice }) {
  const set = useFilters();
  if (sha === null) return null;
  return (
    <div role="status">
      <p class="note">
        {commit
          ? `Only commit ${commit.sha.slice(0, 7)} is shown. You can comment only on the whole change.`
          : list.content && `This version of the change does not contain the commit ${visible(sha).slice(0, 40)}.`}{' '}
        {commit?.patch === null &&
          'The diff of this commit is not shown because the commits are too large. See the branch.'}
        {commit && commit.patch !== null && files.length === 0 && 'This commit changes no files.'}{' '}
        <button type="button" class="quiet slim" onClick={() => set({ commit: null })}>
          Show the whole change
        </button>
      </p>
    </div>
  );
}
