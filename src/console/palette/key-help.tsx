// The keys of the current page and of all pages.
import { useEffect, useRef } from 'preact/hooks';
import { type Keys, keysOfPage } from '../kit/keys.ts';
import { may } from '../kit/page.ts';
import { pageKeys } from './everywhere-keys.ts';

type Line = readonly [keys: readonly string[], words: string];

const names: Record<string, string> = { Enter: '↵', ArrowDown: '↓', ArrowUp: '↑' };

/** Keys with the same description share a line. */
function linesOf(keys: Keys): Line[] {
  const lines = new Map<string, string[]>();
  for (const [key, [words]] of Object.entries(keys)) lines.set(words, [...(lines.get(words) ?? []), names[key] ?? key]);
  return [...lines].map(([words, all]) => [all.length > 3 ? [all[0]!, '…', all.at(-1)!] : all, words]);
}

const everywhere = (): Line[] => [
  [['Ctrl', 'K'], 'Search pages, records and actions'],
  [['?'], 'Show keyboard shortcuts'],
  ...(may('missions:run') ? [[['c'], 'Start a mission'] as const] : []),
  [['/'], 'Go to the search field'],
  ...Object.entries(pageKeys).map(([key, [, name]]) => [['g', key], `Open ${name}`] as const),
];
const ofLists: Line[] = [
  [['j', 'k'], 'Next, previous row'],
  [['↵'], 'Open the row'],
  [['x'], 'Select the row'],
  [['⇧', 'x'], 'Select all rows up to this one'],
  [['Esc'], 'Leave a field or a dialog'],
  [['Ctrl', '↵'], 'Send the text'],
];

export function KeyHelp({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const ofPage = linesOf(keysOfPage());
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="key-help" aria-labelledby="key-help-title" onClose={close}>
      <div class="panel-head">
        <h2 id="key-help-title">Keys</h2>
        <button type="button" class="quiet slim" autofocus onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div class="key-groups">
        {ofPage.length > 0 && <Group title="This page" lines={ofPage} />}
        <Group title="Lists and fields" lines={ofLists} />
        <Group title="Every page" lines={everywhere()} />
      </div>
    </dialog>
  );
}

const Group = ({ title, lines }: { title: string; lines: readonly Line[] }) => (
  <section aria-label={title}>
    <h3>{title}</h3>
    <dl>
      {lines.map(([keys, words]) => (
        <div key={words}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  </section>
);
