// The text of a review for the agent of the mission.
import type { ChangeComment } from './model.ts';

export type NewComment = Pick<ChangeComment, 'path' | 'side' | 'startLine' | 'line' | 'quote' | 'body'>;

const placeOf = ({ path, side, startLine, line }: NewComment): string => {
  const lines = startLine === line ? `line ${line}` : `lines ${startLine} to ${line}`;
  return `${path}, ${lines}${side === 'old' ? ' of the version before the change' : ''}`;
};

const quoted = (quote: string): string => (quote === '' ? '' : `\n\n${quote.replaceAll(/^/gm, '> ')}`);

/** The requested changes: the review's text, then each comment with its file, line numbers and lines. */
export const requestOf = (body: string, comments: readonly NewComment[]): string =>
  [
    '# A person has reviewed your change, and requests changes',
    ...(body === '' ? [] : [body]),
    ...comments.map((comment) => `## ${placeOf(comment)}${quoted(comment.quote)}\n\n${comment.body}`),
    'Address each point, and commit the change on the same branch.',
  ].join('\n\n');
