// The text of an issue for agents: title, description and comments, within limits. The text is untrusted.
import type { FoundIssue } from './tracker.ts';

/** Maximum lengths of the parts of an issue's text, in characters. */
const limits = { title: 300, body: 12_000, comment: 2_000, comments: 10_000 };

const clip = (text: string, length: number): string => {
  const storable = text.replaceAll('\0', '').trim();
  return storable.length <= length ? storable.toWellFormed() : `${storable.slice(0, length).toWellFormed()} …`;
};

/** With too many comments, the text contains the newest ones, in order. */
export function textOfIssue({ title, body, comments }: FoundIssue): string {
  const parts: string[] = [];
  let left = limits.comments;
  for (const { author, text } of comments.toReversed()) {
    const part = `Comment of ${clip(author, 100) || 'somebody'}:\n${clip(text, limits.comment)}`;
    left -= part.length;
    if (left < 0) break;
    parts.unshift(part);
  }
  const leftOut = comments.length - parts.length;
  const note = leftOut > 0 ? [`(${leftOut} earlier comments are left out.)`] : [];
  return [`Title: ${clip(title, limits.title)}`, clip(body, limits.body), ...note, ...parts]
    .filter(Boolean)
    .join('\n\n');
}
