// Keys of the review: n and p go to the next and previous file, v marks the file as viewed and goes to the next one, the arrow keys move
// along its lines, c comments on a line, a and r open the dialog with a verdict.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ReviewVerdict } from '../generated/documents.ts';
import { isWriting } from '../kit/keys.ts';

/** The current file: the one with the focus, else the first one whose end is in view. */
function presentFile(files: readonly HTMLElement[]): number {
  const focused = files.findIndex((file) => file.contains(document.activeElement));
  return focused >= 0 ? focused : files.findIndex((file) => file.getBoundingClientRect().bottom > 80);
}

function goTo(file: HTMLElement | undefined): void {
  file?.scrollIntoView({ block: 'start' });
  file?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true });
}

/** Moves the focus along the lines of a file; the first line follows the header. */
function goAlong(file: HTMLElement | undefined, step: number): void {
  const lines = [...(file?.querySelectorAll<HTMLElement>('[data-line]') ?? [])];
  const at = lines.indexOf(document.activeElement as HTMLElement);
  const next = lines[at < 0 ? 0 : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** @param openDialog Null for people who may not review. */
export function useReviewKeys(
  list: RefObject<HTMLElement | null>,
  openDialog: ((verdict: ReviewVerdict) => void) | null,
): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const files = [...(list.current?.querySelectorAll<HTMLElement>('[data-file]') ?? [])];
      const at = presentFile(files);
      const acts: Record<string, () => void> = {
        n: () => goTo(files[at + (files[at]?.contains(document.activeElement) ? 1 : 0)]),
        p: () => goTo(files[Math.max(0, at - 1)]),
        v: () => {
          files[at]?.querySelector<HTMLElement>('.viewed input')?.click();
          goTo(files[at + 1]);
        },
        c: () => document.activeElement?.matches('[data-line]') && (document.activeElement as HTMLElement).click(),
        a: () => openDialog?.('approve'),
        r: () => openDialog?.('request_changes'),
      };
      const isInFile = files[at]?.contains(document.activeElement);
      if (isInFile && event.key === 'ArrowDown') goAlong(files[at], 1);
      else if (isInFile && event.key === 'ArrowUp') goAlong(files[at], -1);
      else if (event.key in acts) acts[event.key]!();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [list, openDialog]);
}
