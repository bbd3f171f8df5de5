// The end of the log of a failed mission, scrolled to the line with the failure.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { lastSession, sandboxLog } from '../generated/documents.ts';
import { plain } from '../kit/ansi.ts';
import { AnsiText } from '../kit/ansi-text.tsx';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { failingLine } from './failing-line.ts';

/** Number of lines shown from the end of the log. */
const maxLines = 200;

export function LastLines({ sandboxId }: { sandboxId: string }) {
  const { data } = useReading(lastSession, { sandboxId });
  const session = data?.sandbox.sessions.at(-1);
  return session ? <Lines sandboxId={sandboxId} {...session} /> : null;
}

type Session = { role: 'builder' | 'planner' | 'qa' | 'researcher' | 'reviewer'; sessionId: string };

function Lines({ sandboxId, role, sessionId }: Session & { sandboxId: string }) {
  const { data } = useReading(sandboxLog, { sandboxId, role, sessionId, part: 'session', cursor: null });
  const box = useRef<HTMLPreElement>(null);
  const mark = useRef<HTMLElement>(null);
  // Shows the failing line in the upper third, because the following lines explain it.
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    current.scrollTop = mark.current ? mark.current.offsetTop - current.clientHeight / 3 : current.scrollHeight;
  }, [data]);
  const lines = (data?.sandboxLog.content ?? '').trimEnd().split('\n').slice(-maxLines);
  if (!data || plain(lines.join('')).trim() === '') return null;
  const failing = failingLine(lines);
  const address = pageAt(`/sandboxes/${sandboxId}?session=${encodeURIComponent(`${role}:${sessionId}`)}`);
  return (
    <Card title="Where it failed" aside={<a href={address}>Whole log</a>}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1) */}
      <pre class="result last-lines" ref={box} tabIndex={0}>
        {lines.map((line, i) =>
          i === failing ? (
            <mark key={i} ref={mark}>
              <AnsiText text={line} />
              {'\n'}
            </mark>
          ) : (
            <span key={i}>
              <AnsiText text={line} />
              {'\n'}
            </span>
          ),
        )}
      </pre>
    </Card>
  );
}
