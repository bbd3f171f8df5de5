// The end of the log of a mission that failed: what its newest session wrote last.
import { plain } from './ansi.ts';
import { lastSession, sandboxLog } from './documents.ts';
import { pageAt } from './page.ts';
import { Card } from './pieces.tsx';
import { useReading } from './reading.ts';
import { ScrollBlock } from './scroll-block.tsx';

const most = 20;

export function LastLines({ sandboxId }: { sandboxId: string }) {
  const { data } = useReading(lastSession, { sandboxId });
  const session = data?.sandbox.sessions.at(-1);
  return session ? <Lines sandboxId={sandboxId} {...session} /> : null;
}

type Session = { role: 'builder' | 'planner' | 'qa' | 'researcher' | 'reviewer'; sessionId: string };

function Lines({ sandboxId, role, sessionId }: Session & { sandboxId: string }) {
  const { data } = useReading(sandboxLog, { sandboxId, role, sessionId, part: 'session', cursor: null });
  const lines = plain(data?.sandboxLog.content ?? '')
    .trimEnd()
    .split('\n')
    .slice(-most);
  if (!data || lines.join('') === '') return null;
  const address = pageAt(`/sandboxes/${sandboxId}?session=${encodeURIComponent(`${role}:${sessionId}`)}`);
  return (
    <Card title="Last lines of the log" aside={<a href={address}>Whole log</a>}>
      <ScrollBlock class="result last-lines">{lines.join('\n')}</ScrollBlock>
    </Card>
  );
}
