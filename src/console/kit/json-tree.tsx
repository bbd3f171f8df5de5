// A JSON document whose objects and lists fold. Folded parts are not rendered.
import { useState } from 'preact/hooks';
import { plural } from './words.tsx';

/** Levels that are unfolded at first, and members shown at a time. */
const [unfolded, atOnce] = [2, 100];

interface Properties {
  value: unknown;
  name?: string;
  depth?: number;
}

export function JsonTree({ value, name, depth = 0 }: Properties) {
  const [isOpen, setOpen] = useState(depth < unfolded);
  const [visibleCount, setVisibleCount] = useState(atOnce);
  const label = name !== undefined && <span class="json-name">{name}: </span>;
  if (value === null || typeof value !== 'object') {
    return (
      <div class="json-value">
        {label}
        <span class={`json-${typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const count = isList ? plural(members.length, 'item') : plural(members.length, 'member');
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        <span class="muted">{isList ? `[ ${count} ]` : `{ ${count} }`}</span>
      </summary>
      {isOpen && (
        <div class="json-members">
          {members.slice(0, visibleCount).map(([key, member]) => (
            <JsonTree key={key} name={key} value={member} depth={depth + 1} />
          ))}
          {members.length > visibleCount && (
            <button type="button" class="quiet slim" onClick={() => setVisibleCount(visibleCount + atOnce)}>
              {members.length - visibleCount} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}
