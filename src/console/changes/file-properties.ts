// Properties of the change of one file, for its header and its rows.
import type { FileChange } from './diff-parse.ts';
import type { DraftOfReview } from './draft.ts';
import type { Thread, ThreadActions } from './threads.ts';

export interface ViewSettings {
  isSplit: boolean;
  ignoresSpace: boolean;
  wraps: boolean;
}

export interface FileProperties {
  runId: string;
  file: FileChange;
  view: ViewSettings;
  /** Comments of submitted reviews on the file. */
  threads: readonly Thread[];
  draft: DraftOfReview;
  mayComment: boolean;
  /** Whether the change is that of a single commit, which cannot be marked as viewed, and whose images are not available. */
  isOfCommit: boolean;
  isViewed: boolean;
  /** Whether the file has changed since the person marked it as viewed. */
  isChangedSinceViewed: boolean;
  onViewed(isViewed: boolean): void;
  actions: ThreadActions;
}
