// The logs of a sandbox by session and part. The selection is in the URL of the page.
import { type SandboxLogPart, type SandboxQuery, sandboxLog } from '../generated/documents.ts';
import { Card, Empty, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useReading } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { dollars, Time } from '../kit/words.tsx';
import type { LogKey } from './log-reading.ts';
import { EmptyLog, LogView } from './log-view.tsx';

type Session = SandboxQuery['sandbox']['sessions'][number];

const parts: readonly { part: SandboxLogPart; name: string }[] = [
  { part: 'session', name: 'Session' },
  { part: 'system', name: 'System' },
  { part: 'prompt', name: 'Prompt' },
];

const keyOf = ({ role, sessionId }: Session): string => `${role}:${sessionId}`;

export function Log({ sandboxId, sessions, news }: { sandboxId: string; sessions: Session[]; news: unknown }) {
  const [wanted, choose] = useFilter('session');
  const [wantedPart, choosePart] = useFilter('part');
  const session = sessions.find((one) => keyOf(one) === wanted) ?? sessions.at(-1);
  const { part } = parts.find((one) => one.part === wantedPart) ?? parts[0]!;
  if (!session) {
    return (
      <Card title="Logs">
        <Empty>No logs yet. They appear when the agent starts.</Empty>
      </Card>
    );
  }
  const log = { sandboxId, role: session.role, sessionId: session.sessionId };
  return (
    <Card title="Logs">
      <div class="filters">
        <label>
          Session
          <select value={keyOf(session)} onChange={(event) => choose(event.currentTarget.value)}>
            {sessions.map((one) => (
              <option key={keyOf(one)} value={keyOf(one)}>
                {one.role} · {one.sessionId}
              </option>
            ))}
          </select>
        </label>
        <fieldset class="tabs">
          <legend class="unseen">Part of the log</legend>
          {parts.map(({ part: one, name }) => (
            <button
              key={one}
              type="button"
              class="quiet slim"
              aria-pressed={one === part}
              onClick={() => choosePart(one)}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </div>
      <p class="muted small">
        Started <Time at={session.ts} /> · {session.outcome ?? 'open'} · {dollars(session.totalCostUsd)}
      </p>
      {part === 'prompt' ? (
        <Prompt key={keyOf(session)} {...log} />
      ) : (
        <LogView
          key={`${keyOf(session)}:${part}`}
          log={{ ...log, part }}
          canGrow={session.outcome === null}
          news={news}
        />
      )}
    </Card>
  );
}

/** The parts of the prompt, each with its source. */
function Prompt(asked: Omit<LogKey, 'part'>) {
  const { data, problem, read } = useReading(sandboxLog, { ...asked, part: 'prompt', cursor: null });
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  if (!data) return <Skeleton rows={1} height={320} />;
  const { bytes, deletedAt, promptSpans } = data.sandboxLog;
  if (bytes === 0) return <EmptyLog deletedAt={deletedAt} />;
  return (
    <>
      {promptSpans.map(({ id, content: words, scope }) => (
        <section key={id} class="span" aria-label={`Span ${id}`}>
          <h3>
            <code>{id}</code>{' '}
            <span class="muted small">{scope === 'mission' ? 'from the mission' : 'from the repository'}</span>
          </h3>
          <ScrollBlock>{words}</ScrollBlock>
        </section>
      ))}
    </>
  );
}
