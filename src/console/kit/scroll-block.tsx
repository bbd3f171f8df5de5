// Blocks that the pointer and the keyboard can scroll: text, and tables that are wider than the page.
import type { ComponentChildren } from 'preact';

export const ScrollBlock = ({ class: name = 'result', children }: { class?: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
  <pre class={name} tabIndex={0}>
    {children}
  </pre>
);

export const ScrollTable = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
);

/** The head of a table; `{ number }` names a column of figures. */
export const TableHead = ({ columns }: { columns: readonly (string | { number: string })[] }) => (
  <thead>
    <tr>
      {columns.map((column) =>
        typeof column === 'string' ? (
          <th key={column} scope="col">
            {column}
          </th>
        ) : (
          <th key={column.number} scope="col" class="number">
            {column.number}
          </th>
        ),
      )}
    </tr>
  </thead>
);
