// What an agent thinks, does and says, the newest last. Who has scrolled up is left where they read.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FragmentFragment } from './documents.ts';
import { Empty } from './pieces.tsx';
import { Time } from './words.tsx';

const names: Record<FragmentFragment['kind'], string> = {
  thought: 'Thought',
  action: 'Action',
  elicitation: 'Question',
  response: 'Answer',
  error: 'Error',
  prompt: 'Prompt',
  plan: 'Plan',
};

export function Fragments({ fragments, isOver }: { fragments: FragmentFragment[]; isOver: boolean }) {
  const box = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = box;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [fragments]);
  if (fragments.length === 0) {
    return (
      <Empty>
        <p>
          {isOver ? 'It has shown nothing of its work.' : 'Nothing yet. What the agent thinks and does appears here.'}
        </p>
      </Empty>
    );
  }
  const onScroll = ({ currentTarget: it }: Event & { currentTarget: HTMLElement }) => {
    isAtEnd.current = it.scrollHeight - it.scrollTop - it.clientHeight < 24;
  };
  // A plan is sent again with each step that moves: the newest one is shown.
  const lastPlan = fragments.findLastIndex(({ kind }) => kind === 'plan');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
    <ol class="fragments" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Live fragments">
      {fragments.map((fragment, i) =>
        fragment.kind === 'plan' && i < lastPlan ? null : (
          <li key={i} class={`fragment of-${fragment.kind}`}>
            <div class="fragment-head">
              <span class="kind">{names[fragment.kind]}</span>
              {fragment.action && <code>{fragment.action}</code>}
              <span class="muted small">
                <Time at={fragment.t} />
              </span>
            </div>
            {fragment.parameter && <code class="parameter">{fragment.parameter}</code>}
            {fragment.body && <p>{fragment.body}</p>}
            {fragment.result && <pre class="result">{fragment.result}</pre>}
            {fragment.items.length > 0 && (
              <ul class="plan">
                {fragment.items.map(({ content, status }, step) => (
                  <li key={step}>
                    {content} <span class="muted small">{status.replaceAll('_', ' ')}</span>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ),
      )}
    </ol>
  );
}
