// A form field with a list of entries, each in a separate row with its error. Blank rows are not sent.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { FieldError } from './field-error.tsx';

interface Properties<Entry> {
  entries: readonly Entry[];
  set(entries: Entry[]): void;
  blank: Entry;
  isBlank(entry: Entry): boolean;
  /** The word for one entry on the page, such as `host`. */
  noun: string;
  /** `index`: the place among the entries that are sent; null for a blank one. */
  children(entry: Entry, change: (...to: Entry[]) => void, index: number | null, row: number): ComponentChildren;
}

export function Entries<Entry>({ entries, set, blank, isBlank, noun, children }: Properties<Entry>) {
  const list = useRef<HTMLDivElement>(null);
  const focusLast = useRef(false);
  useLayoutEffect(() => {
    if (focusLast.current) list.current?.lastElementChild?.querySelector<HTMLElement>('input')?.focus();
    focusLast.current = false;
  }, [entries.length]);
  return (
    <div class="entries">
      <div ref={list}>
        {entries.map((entry, row) => (
          <div class="entry" key={row}>
            {children(
              entry,
              (...to) => set(entries.toSpliced(row, 1, ...to)),
              isBlank(entry) ? null : entries.slice(0, row).filter((one) => !isBlank(one)).length,
              row,
            )}
            <button
              type="button"
              class="quiet slim"
              aria-label={`Remove ${noun} ${row + 1}`}
              onClick={() => set(entries.toSpliced(row, 1))}
            >
              Remove
            </button>
          </div>
        ))}
      </div>
      <button
        type="button"
        class="quiet slim"
        onClick={() => {
          focusLast.current = true;
          set([...entries, blank]);
        }}
      >
        Add {noun}
      </button>
    </div>
  );
}

interface HostsProperties {
  hosts: readonly string[];
  set(hosts: string[]): void;
  /** Path of the list in errors, and prefix of ids. */
  path: string;
  errorOf(path: string): string | null;
}

/** Hosts of a network policy or secret. Several pasted hosts become several rows. */
export const Hosts = ({ hosts, set, path, errorOf }: HostsProperties) => (
  <Entries entries={hosts} set={set} blank="" isBlank={(host) => host.trim() === ''} noun="host">
    {(host, change, index, row) => {
      const error = index === null ? null : errorOf(`${path}.${index}`);
      const id = `${path}.${row}`;
      return (
        <div class="grow">
          <input
            aria-label={`Host ${row + 1}`}
            aria-invalid={error ? 'true' : undefined}
            aria-describedby={error ? `error-${id}` : undefined}
            class="code-input"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="api.example.com"
            value={host}
            onInput={({ currentTarget: { value } }) => change(...value.split(/[\s,;]+(?=\S)/))}
          />
          <FieldError id={`error-${id}`} text={error} />
        </div>
      );
    }}
  </Entries>
);

export const cleanHosts = (hosts: readonly string[]): string[] =>
  hosts.map((host) => host.trim().toLowerCase()).filter(Boolean);
