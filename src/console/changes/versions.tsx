// Lets a person choose which version of the change the page shows: the newest version, or an older version that an earlier step produced.
import { useFilter, useFilters } from '../kit/reading.ts';
import { ago, plural } from '../kit/words.tsx';
import type { ReviewedRun } from './review-bar.tsx';

type Version = ReviewedRun['changeVersions'][number];

const earlierOf = ({ changeVersions, headSha }: ReviewedRun): Version[] =>
  changeVersions.filter((version) => version.artifact && version.headSha !== headSha);

/** The diff to show: that of the version in the URL, or of the newest version. */
export function useVersion(run: ReviewedRun) {
  const [chosen] = useFilter('version');
  const earlier = earlierOf(run).find(({ headSha }) => headSha === chosen) ?? null;
  const version = earlier ?? run.changeVersions.find(({ headSha }) => headSha === run.headSha) ?? null;
  return { earlier, version, diff: earlier?.artifact ?? run.changeDiff };
}

const wordsOf = ({ headSha, role, changedFiles, insertions, deletions, createdAt }: Version): string => {
  const size = changedFiles === null ? '' : `, ${plural(changedFiles, 'file')} +${insertions} −${deletions}`;
  return `${headSha.slice(0, 7)}, ${role}${size}, ${ago(Date.now() - createdAt, createdAt)}`;
};

export function Versions({ run }: { run: ReviewedRun }) {
  const [chosen] = useFilter('version');
  const set = useFilters();
  const earlier = earlierOf(run);
  if (earlier.length === 0) return null;
  return (
    <select
      aria-label="Version of the change"
      value={chosen ?? ''}
      onChange={({ currentTarget }) => set({ version: currentTarget.value, commit: null })}
    >
      <option value="">Newest version</option>
      {earlier.map((version) => (
        <option key={version.headSha} value={version.headSha}>
          {wordsOf(version)}
        </option>
      ))}
    </select>
  );
}
