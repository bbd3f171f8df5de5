// Keyboard shortcuts on every page: g and a letter open a page; other keys move to the rows of a list or to the search field. Shortcuts of
// the page itself take precedence.
import { isWriting } from '../kit/keys.ts';
import { may, pageAt } from '../kit/page.ts';

/** Keyboard shortcuts for pages: the person presses g, and then one of these letters. */
export const pageKeys = {
  i: ['/inbox', 'Inbox'],
  o: ['/overview', 'Overview'],
  m: ['/runs', 'Missions'],
  p: ['/projects', 'Projects'],
  a: ['/agents', 'Agents'],
  s: ['/settings', 'Settings'],
} as const;

const rows = () => [...document.querySelectorAll<HTMLElement>('main .row-link')];

/** Moves the focus to the next or the previous row of the page. */
function move(by: 1 | -1): boolean {
  const all = rows();
  const at = all.findIndex((link) => link.closest('li, tr')?.contains(document.activeElement));
  const next = all[at < 0 ? 0 : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return all.length > 0;
}

/** Selects the row that has the focus, or deselects it if it is selected. */
function select(isRange: boolean): boolean {
  const box = document.activeElement?.closest('li')?.querySelector('.select-row');
  return box?.dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: isRange })) !== undefined;
}

function search(): boolean {
  const field = document.querySelector<HTMLElement>('main input[type="search"]');
  field?.focus();
  return field !== null;
}

const isCommand = ({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean =>
  !defaultPrevented && !isWriting(target) && !ctrlKey && !metaKey && !altKey;

/** Listens until the returned function is called. */
export function listenToGlobalKeys(route: (address: string) => void, help: () => void): () => void {
  let isGoing = false;
  const acts: Record<string, () => unknown> = {
    j: () => move(1),
    k: () => move(-1),
    x: () => select(false),
    X: () => select(true),
    '/': search,
    '?': help,
    ...(may('missions:run') && { c: () => route(pageAt('/runs/new')) }),
  };
  // If the key `g` was pressed, the next key opens a page, such as `m` for the missions. This function receives each key before the shortcuts
  // of the page receive it.
  const first = (event: KeyboardEvent) => {
    if (!isCommand(event)) return;
    const page = isGoing && pageKeys[event.key as keyof typeof pageKeys];
    isGoing = event.key === 'g';
    if (!page) return;
    event.preventDefault();
    route(pageAt(page[0]));
  };
  // The shortcuts of the page take precedence, because they listen on the document, and this function listens on the window.
  const last = (event: KeyboardEvent) => {
    const act = isCommand(event) && acts[event.key];
    if (act && act() !== false) event.preventDefault();
  };
  addEventListener('keydown', first, true);
  addEventListener('keydown', last);
  return () => {
    removeEventListener('keydown', first, true);
    removeEventListener('keydown', last);
  };
}
