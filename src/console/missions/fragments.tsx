// Thoughts, tool calls and answers of an agent, newest last. The list follows new ones unless the person has scrolled up.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type FragmentFragment, sandboxFragments } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { Action, Empty } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';
import { CallEnd, CallResult, hasFailed, joinCalls } from './tool-call.tsx';

const names: Record<FragmentFragment['kind'], string> = {
  thought: 'Thought',
  action: 'Tool',
  elicitation: 'Question',
  response: 'Answer',
  error: 'Error',
  prompt: 'To the agent',
  plan: 'Plan',
};

interface Properties {
  sandboxId: string;
  /** The newest fragments. */
  fragments: readonly FragmentFragment[];
  isOver: boolean;
  /** Cursor of earlier fragments; null means there are none; absent means unknown. */
  earlier?: string | null;
  /** Whether the list scrolls in a box of its own. */
  scrolls?: boolean;
}

/** Number of fragments that the service sends at first: there may be older ones. */
const firstPage = 200;

export function Fragments({ sandboxId, fragments, isOver, earlier, scrolls = true }: Properties) {
  const [older, setOlder] = useState<{ fragments: FragmentFragment[]; cursor: string | null } | null>(null);
  if (fragments.length === 0) {
    return (
      <Empty>
        <p>{isOver ? 'No activity.' : 'Nothing yet. What the agent thinks and does appears here.'}</p>
      </Empty>
    );
  }
  const readOlder = async () => {
    // The newest fragments are already shown, so their page is read only for its cursor, which points to older fragments.
    const cursor = older?.cursor ?? earlier ?? (await page(sandboxId, null)).nextCursor;
    if (cursor === null) return setOlder({ fragments: [], cursor: null });
    const { data, nextCursor } = await page(sandboxId, cursor);
    setOlder({ fragments: [...data, ...(older?.fragments ?? [])], cursor: nextCursor });
  };
  const all = joinCalls([...(older?.fragments ?? []), ...fragments]);
  // A plan is sent again with each step that changes: only the newest one is shown.
  const lastPlan = all.findLastIndex(({ kind }) => kind === 'plan');
  const hasOlder = older
    ? older.cursor !== null
    : earlier === undefined
      ? fragments.length >= firstPage
      : earlier !== null;
  return (
    <List scrolls={scrolls} count={fragments.length}>
      {hasOlder && (
        <li>
          <Action label="Show earlier" act={readOlder} />
        </li>
      )}
      {all.map((fragment, i) =>
        fragment.kind === 'plan' && i < lastPlan ? null : <Fragment key={i} fragment={fragment} />,
      )}
    </List>
  );
}

const page = async (sandboxId: string, cursor: string | null) =>
  (await ask(sandboxFragments, { sandboxId, limit: firstPage, cursor })).sandbox.fragments;

function List({ scrolls, count, children }: { scrolls: boolean; count: number; children: ComponentChildren }) {
  const box = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = box;
    if (scrolls && current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [count, scrolls]);
  const onScroll = ({ currentTarget: it }: Event & { currentTarget: HTMLElement }) => {
    isAtEnd.current = it.scrollHeight - it.scrollTop - it.clientHeight < 24;
  };
  if (!scrolls)
    return (
      <ol class="fragments" aria-label="Work of the agent">
        {children}
      </ol>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
    <ol class="fragments scrolls" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Work of the agent">
      {children}
    </ol>
  );
}

function Fragment({ fragment }: { fragment: FragmentFragment }) {
  const { kind, action, parameter, body, items } = fragment;
  const isPreview = action === 'preview' && /^https?:\/\//.test(parameter ?? '');
  return (
    <li class={`fragment of-${kind === 'action' && hasFailed(fragment) ? 'error' : kind}`}>
      <div class="fragment-head">
        {kind !== 'action' && <span class="kind">{names[kind]}</span>}
        {action && kind === 'action' && <code class="kind">{action}</code>}
        {parameter && kind === 'action' && !isPreview && <code class="parameter">{parameter}</code>}
        {isPreview && <a href={parameter!}>Open preview</a>}
        <span class="fragment-end">
          {kind === 'action' && <CallEnd call={fragment} />}
          <span class="muted small">
            <Time at={fragment.t} />
          </span>
        </span>
      </div>
      {body && <p>{body}</p>}
      {kind === 'elicitation' && parameter && <pre class="call-result">{parameter}</pre>}
      {kind === 'action' && <CallResult call={fragment} />}
      {items.length > 0 && (
        <ul class="plan">
          {items.map(({ content, status }, step) => (
            <li key={step}>
              {content} <span class="muted small">{status.replaceAll('_', ' ')}</span>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
