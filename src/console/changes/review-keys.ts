// Keys of the review: n and p go to the next and previous file, v marks the file as viewed and goes to the next one, the arrow keys move
// along its lines, c comments on a line, a and r open the dialog with a verdict.
import type { RefObject } from 'preact';
import type { ReviewVerdict } from '../generated/documents.ts';
import { type Keys, press, useKeys } from '../kit/keys.ts';

/** The current file: the one with the focus, else the first one whose end is in view. */
function presentFile(files: readonly HTMLElement[]): number {
  const focused = files.findIndex((file) => file.contains(document.activeElement));
  return focused >= 0 ? focused : files.findIndex((file) => file.getBoundingClientRect().bottom > 80);
}

function goTo(file: HTMLElement | undefined): void {
  file?.scrollIntoView({ block: 'start' });
  file?.focus({ preventScroll: true });
}

/** Moves the focus along the lines of a file; the first line follows the header. */
function goAlong(file: HTMLElement | undefined, step: number): void {
  const lines = [...(file?.querySelectorAll<HTMLElement>('[data-line]') ?? [])];
  const at = lines.indexOf(document.activeElement as HTMLElement);
  const next = lines[at < 0 ? 0 : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** Registers the keys of the review. @param openDialog Null for people who are not allowed to review */
export function useReviewKeys(
  list: RefObject<HTMLElement | null>,
  openDialog: ((verdict: ReviewVerdict) => void) | null,
): void {
  const files = () => [...(list.current?.querySelectorAll<HTMLElement>('.file') ?? [])];
  const present = () => {
    const all = files();
    return { all, at: presentFile(all) };
  };
  const along = (step: 1 | -1) => () => {
    const { all, at } = present();
    if (!all[at]?.contains(document.activeElement)) return false;
    goAlong(all[at], step);
    return true;
  };
  const decide = (verdict: ReviewVerdict) => openDialog && (() => openDialog(verdict));
  useKeys({
    n: [
      'Next, previous file',
      () => {
        const { all, at } = present();
        goTo(all[at + (all[at]?.contains(document.activeElement) ? 1 : 0)]);
      },
    ],
    p: [
      'Next, previous file',
      () => {
        const { all, at } = present();
        goTo(all[Math.max(0, at - 1)]);
      },
    ],
    ArrowDown: ['Next, previous line of the file', along(1)],
    ArrowUp: ['Next, previous line of the file', along(-1)],
    v: [
      'Mark the file as viewed',
      () => {
        const { all, at } = present();
        all[at]?.querySelector<HTMLElement>('.viewed input')?.click();
        goTo(all[at + 1]);
      },
    ],
    // On every other page the key `c` starts a mission.
    c: ['Comment on the line', () => void document.activeElement?.closest<HTMLElement>('[data-line]')?.click()],
    ...(openDialog && {
      a: ['Approve', decide('approve')],
      r: ['Request changes', decide('request_changes')],
      m: ['Merge', press('m')],
    }),
  } as Keys);
}
