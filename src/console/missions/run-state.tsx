// State of a mission, what it needs from a person, and its outcome, as text.
import type { RunPartsFragment, RunRowFragment } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { plural } from '../kit/words.tsx';

export const needWords: Record<NonNullable<RunRowFragment['needs']>, string> = {
  approval: 'Waiting for a person to approve the plan',
  answer: 'Waiting for a person to answer a question',
  decision: 'Waiting for a person to decide about a tool call',
  budget: 'Waiting for more budget or credits',
  limit: 'Waiting for a higher limit',
};

const needStates: typeof needWords = {
  approval: 'needs approval',
  answer: 'needs an answer',
  decision: 'needs a decision',
  budget: 'needs budget',
  limit: 'at a limit',
};

/** The label of a mission's status: what it needs from a person, an interruption, or the status. */
export function stateOf({ status, needs, interruptedAt, outcome }: RunRowFragment): string {
  if (needs) return needStates[needs];
  if (interruptedAt !== null) return 'interrupted';
  // A completed mission without changes has its own label.
  return status === 'completed' && outcome?.result === 'no_changes' ? 'no changes' : status;
}

/** Lines as `+12 −3`; null when they were not counted. */
const linesOf = ({ insertions, deletions }: NonNullable<RunRowFragment['outcome']>): string | null =>
  insertions === null || deletions === null ? null : `+${insertions} −${deletions}`;

/** The outcome of a mission in a few words, for a row; null without one. */
export function outcomeWords({ outcome }: Pick<RunRowFragment, 'outcome'>): string | null {
  if (!outcome) return null;
  if (outcome.result === 'no_changes') return 'No changes';
  const { files, prNumber, prState } = outcome;
  const parts = [
    files === null ? 'Changes pushed' : `${linesOf(outcome)} in ${plural(files, 'file')}`,
    prNumber !== null && `#${prNumber} ${prState ?? ''}`.trim(),
  ];
  return parts.filter(Boolean).join(', ');
}

/** Shows the changes of the mission in the repository, or that there are none. */
export function Outcome({ run }: { run: Pick<RunPartsFragment, 'id' | 'outcome'> & Partial<RunPartsFragment> }) {
  const { id, outcome, kept } = run;
  if (!outcome) return null;
  if (outcome.result === 'no_changes') {
    return (
      <p class="outcome" role="note" aria-label="Outcome">
        <strong>No changes.</strong> Nothing was committed.
      </p>
    );
  }
  const { commits, files, insertions, deletions, branch, prNumber, prUrl, prState } = outcome;
  return (
    <p class="outcome" role="note" aria-label="Outcome">
      <strong>Changes</strong>
      {files !== null && <span>{plural(files, 'file')}</span>}
      {insertions !== null && deletions !== null && (
        <span>
          <span class="added">+{insertions}</span> <span class="removed">−{deletions}</span>
        </span>
      )}
      {commits !== null && <span>{plural(commits, 'commit')}</span>}
      {branch && (
        <span>
          branch <code>{branch}</code>
        </span>
      )}
      {prUrl && (
        <span>
          <a href={prUrl}>Pull request #{prNumber}</a> {prState}
        </span>
      )}
      {!kept && (
        <a class="button slim" data-key="r" href={pageAt(`/runs/${id}/changes`)}>
          Review changes
        </a>
      )}
    </p>
  );
}
