// Command palette: opens any page, record or action by a few letters (Ctrl-K, ⌘K, or the button in the header).
import { useEffect, useRef, useState } from 'preact/hooks';
import { pageEntries } from '../../surfaces/console/pages.ts';
import { type PaletteRunsQuery, palette, paletteMembers, paletteRuns } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { may, org, pageAt } from '../kit/page.ts';
import { titleOf } from '../missions/runs.tsx';

interface Entry {
  kind: string;
  name: string;
  address: string;
}

/** Actions, and the pages of the menu. */
const fixed = (): Entry[] => [
  ...pageEntries.flatMap(([address, { actions = [] }]) =>
    actions.flatMap(([scope, name]) => (may(scope) ? [{ kind: 'Action', name, address: pageAt(address) }] : [])),
  ),
  ...[...document.querySelectorAll<HTMLAnchorElement>('.menu nav a')].map((link) => ({
    kind: 'Page',
    name: link.textContent ?? '',
    address: link.getAttribute('href')!,
  })),
];

interface Named {
  id: string;
  name: string;
}
const entriesOf = (kind: string, base: string, page: { data: Named[] } | null): Entry[] =>
  page?.data.map(({ id, name }) => ({ kind, name, address: pageAt(`${base}/${id}`) })) ?? [];

async function records(): Promise<Entry[]> {
  const { projects, agents, sandboxTemplates, issues, scheduledTasks, automations } = await ask(palette, {});
  return [
    ...entriesOf('Project', '/projects', projects),
    ...entriesOf('Agent', '/agents', agents),
    ...entriesOf('Sandbox template', '/templates', sandboxTemplates),
    ...entriesOf('Scheduled task', '/tasks', scheduledTasks),
    ...entriesOf('Automation', '/automations', automations),
    ...(issues?.data ?? []).map(({ id, key, title }) => ({
      kind: `Issue ${key}`,
      name: title,
      address: pageAt(`/issues/${id}`),
    })),
  ];
}

async function members(): Promise<Entry[]> {
  const { memberships } = await ask(paletteMembers, { orgId: org });
  return memberships.memberships.map(({ userId, person }) => ({
    kind: 'Member',
    name: person ? `${person.name}, ${person.email}` : userId,
    address: pageAt('/members'),
  }));
}

/** The palette searches when the person has not typed for this many milliseconds. */
const pause = 200;

/** Missions that match the typed words; the newest ones before anything is typed. */
function useMissions(typed: string): Entry[] {
  const search = typed.trim().slice(0, 200);
  const [found, setFound] = useState({ search, entries: [] as Entry[] });
  useEffect(() => {
    let isLate = false;
    const read = () =>
      ask(paletteRuns, search ? { search } : {}).then(
        ({ runs }) => isLate || setFound({ search, entries: runs.data.map(missionEntry) }),
        () => {},
      );
    const timer = setTimeout(read, search ? pause : 0);
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [search]);
  return found.search === search ? found.entries : matches(found.entries, typed);
}

const missionEntry = (run: PaletteRunsQuery['runs']['data'][number]): Entry => ({
  kind: `Mission, ${run.status}`,
  name: titleOf(run),
  address: pageAt(`/runs/${run.id}`),
});

/** Maximum number of entries shown, and how many of them are reserved for missions. */
const maxEntries = 12;
const missionsAtLeast = 4;

/** Entries that contain every typed word; those whose name begins with the first word come first. */
function matches(entries: Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ kind, name, address }) =>
    words.every((word) => `${name} ${kind} ${address}`.toLowerCase().includes(word)),
  );
  const begins = ({ name }: Entry) => (words[0] && name.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return found.sort((one, other) => begins(one) - begins(other));
}

export function Palette({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entries, setEntries] = useState(fixed);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
    // If a read fails, pages and actions are still listed.
    for (const read of [records(), ...(may('members:read') ? [members()] : [])])
      read.then(
        (more) => setEntries((before) => [...before, ...more]),
        () => {},
      );
  }, []);
  const missions = useMissions(typed);
  const others = matches(entries, typed).slice(0, maxEntries - Math.min(missions.length, missionsAtLeast));
  const found = [...others, ...missions].slice(0, maxEntries);
  const go = ({ address }: Entry) => {
    dialog.current?.close();
    // A click on a link also opens pages that the server renders.
    const link = document.createElement('a');
    link.href = address;
    document.body.append(link);
    link.click();
    link.remove();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      setActive((active + step + found.length) % found.length);
    }
    if (event.key === 'Escape') {
      // By default Escape would only empty the search field.
      event.preventDefault();
      dialog.current?.close();
    }
    if (event.key === 'Enter' && found[active]) {
      event.preventDefault();
      go(found[active]);
    }
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={close}>
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a `list` the role is not implied
        role="combobox"
        list={undefined}
        aria-label="Go to a page, record or action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${active}` : undefined}
        autocomplete="off"
        autofocus
        placeholder="Go to …"
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Found">
        {found.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys (ARIA, combobox)
          <div
            key={`${entry.kind} ${entry.name} ${entry.address}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === active}
            tabIndex={-1}
            onClick={() => go(entry)}
          >
            <bdi class="clip">{entry.name}</bdi>
            <span class="muted small">{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="muted">No results.</p>}
    </dialog>
  );
}
