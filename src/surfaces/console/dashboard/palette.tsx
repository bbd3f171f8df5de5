// Goes to any page, project, mission, agent or action by a few letters: Ctrl-K, ⌘K, or the button in the header.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './client.ts';
import { palette } from './documents.ts';
import { may, pageAt } from './page.ts';

interface Entry {
  kind: string;
  name: string;
  address: string;
}

const actions: readonly (readonly [scope: string, name: string, address: string])[] = [
  ['missions:run', 'Start a mission', pageAt('/runs/new')],
  ['projects:write', 'Create a project', pageAt('/projects/new')],
  ['scheduled-tasks:write', 'Create a scheduled task', pageAt('/tasks/new')],
  ['automations:write', 'Create an automation', pageAt('/automations/new')],
  ['agents:write', 'Create an agent', pageAt('/agents/new')],
  ['integrations:write', 'Connect an integration', pageAt('/integrations')],
  ['integrations:write', 'Connect a runtime', pageAt('/runtimes')],
  ['members:write', 'Invite somebody', pageAt('/members')],
  ['billing:write', 'Buy credits', pageAt('/billing')],
  ['orchestrator:write', 'Change the daily cost cap', pageAt('/settings')],
];

/** The pages are those of the menu. */
const fixed = (): Entry[] => [
  ...actions.flatMap(([scope, name, address]) => (may(scope) ? [{ kind: 'Action', name, address }] : [])),
  ...[...document.querySelectorAll<HTMLAnchorElement>('.menu nav a')].map((link) => ({
    kind: 'Page',
    name: link.textContent ?? '',
    address: link.getAttribute('href')!,
  })),
];

async function records(): Promise<Entry[]> {
  const { projects, runs, agents } = await ask(palette, {});
  return [
    ...(projects?.data ?? []).map(({ id, name }) => ({ kind: 'Project', name, address: pageAt(`/projects/${id}`) })),
    ...(runs?.data ?? []).map(({ id, missionTitle, status }) => ({
      kind: `Mission, ${status}`,
      name: missionTitle ?? 'Untitled run',
      address: pageAt(`/runs/${id}`),
    })),
    ...(agents?.data ?? []).map(({ id, name }) => ({ kind: 'Agent', name, address: pageAt(`/agents/${id}`) })),
  ];
}

const most = 12;

/** It contains every word that was typed; what begins so comes first. */
function matches(entries: Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ kind, name, address }) =>
    words.every((word) => `${name} ${kind} ${address}`.toLowerCase().includes(word)),
  );
  const begins = ({ name }: Entry) => (words[0] && name.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return found.sort((one, other) => begins(one) - begins(other)).slice(0, most);
}

export function Palette({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entries, setEntries] = useState(fixed);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
    // Without them the pages and actions are still there.
    records().then(
      (more) => setEntries((before) => [...before, ...more]),
      () => {},
    );
  }, []);
  const found = matches(entries, typed);
  const go = ({ address }: Entry) => {
    dialog.current?.close();
    // A page of the server's is another document.
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
      // A search field would only be emptied.
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
        aria-label="Go to a page, project, mission or agent"
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
            key={`${entry.kind} ${entry.address}`}
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
      {found.length === 0 && <p class="muted">Nothing is called that.</p>}
    </dialog>
  );
}
