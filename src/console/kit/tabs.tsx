// Tabs. The URL of the page names the open one.
import type { ComponentChildren } from 'preact';
import { useFilter } from './reading.ts';

interface Tab {
  name: string;
  /** Number of records in the tab. */
  count?: number;
  content: ComponentChildren;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [wanted, choose] = useFilter('tab');
  const open = tabs.find(({ name }) => name === wanted) ?? tabs[0]!;
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = (tabs.indexOf(open) + step + tabs.length) % tabs.length;
    choose(tabs[at]!.name);
    (event.currentTarget.children[at] as HTMLElement).focus();
  };
  return (
    <div class="panel">
      <div role="tablist" class="tab-list" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ name, count }) => (
          <button
            key={name}
            type="button"
            role="tab"
            class="plain"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={name === open.name}
            tabIndex={name === open.name ? 0 : -1}
            onClick={() => choose(name)}
          >
            {name}
            {count !== undefined && <span class="muted"> {count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${open.name}`}>
        {open.content}
      </div>
    </div>
  );
}
