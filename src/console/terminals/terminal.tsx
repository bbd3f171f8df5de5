// A shell in the sandbox of a running mission.
import { useEffect, useRef, useState } from 'preact/hooks';
import { closeTerminal, openTerminal, terminalUpdated } from '../generated/documents.ts';
import { mutate, type ProblemBody, problemOf } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { useLive } from '../kit/live.ts';
import { pageAt } from '../kit/page.ts';
import { ErrorNote } from '../kit/pieces.tsx';
import { openInput } from './input.ts';
import { openScreen } from './screen.ts';

export function Terminal({ id: runId }: { id: string }) {
  const [opened, setOpened] = useState(0);
  return (
    <>
      <Heading title="Terminal" above={[[pageAt(`/runs/${runId}`), 'Mission']]} />
      <p class="hint">
        A shell in the sandbox of the mission, beside its agent. Its output becomes an artifact of the mission, with
        secrets masked.
      </p>
      <Shell key={opened} runId={runId} openAgain={() => setOpened(opened + 1)} />
    </>
  );
}

interface ShellProperties {
  runId: string;
  openAgain(): void;
}

function Shell({ runId, openAgain }: ShellProperties) {
  const place = useRef<HTMLDivElement>(null);
  const [terminalId, setTerminalId] = useState<string | null>(null);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const [end, setEnd] = useState<string | null>(null);
  const [screen, setScreen] = useState<ReturnType<typeof openScreen> | null>(null);
  const input = useRef<ReturnType<typeof openInput> | null>(null);
  useEffect(() => {
    let opened: string | null = null;
    const note = (error: unknown) =>
      setProblem(error === null ? null : problemOf(error, 'What you type is sent once the connection is back.'));
    const own = openScreen(
      place.current!,
      (text) => input.current?.write(text),
      (size) => input.current?.resize(size),
    );
    setScreen(own);
    const size = own.size();
    mutate(openTerminal, { runId, ...size }).then(({ openTerminal: { id } }) => {
      opened = id;
      input.current = openInput(id, size, note);
      input.current.resize(own.size());
      setTerminalId(id);
    }, note);
    return () => {
      input.current?.close();
      own.close();
      if (opened) void mutate(closeTerminal, { terminalId: opened }).catch(() => {});
    };
  }, []);
  const over = (reason: string) => {
    input.current?.close();
    setProblem(null);
    setEnd(reason);
  };
  return (
    <>
      {problem && <ErrorNote problem={problem} retry={terminalId === null ? openAgain : undefined} />}
      {end !== null && (
        <div class="note trouble" role="status">
          <div>
            <strong>The shell has ended.</strong> {end}
          </div>
          <button type="button" class="quiet slim" onClick={openAgain}>
            Open another shell
          </button>
        </div>
      )}
      <section class="panel" aria-label="Shell">
        <div class="shell" ref={place} />
      </section>
      {terminalId && screen && <Output terminalId={terminalId} screen={screen} over={over} />}
    </>
  );
}

interface OutputProperties {
  terminalId: string;
  screen: ReturnType<typeof openScreen>;
  over(reason: string): void;
}

/** Writes the output to the screen until the shell has ended. */
function Output({ terminalId, screen, over }: OutputProperties) {
  const [after, isOver] = [useRef(0), useRef(false)];
  useLive({
    operation: terminalUpdated,
    variables: {
      terminalId,
      // The number is read at each connection, so that a new connection does not repeat output.
      get after() {
        return after.current;
      },
    },
    take({ terminalUpdated: { output, nextOutput, isCut, terminal } }) {
      after.current = nextOutput;
      if (isCut) screen.note('Some output is missing: the shell printed faster than it could be sent.');
      if (output) screen.write(output);
      if (terminal.status !== 'ended' || isOver.current) return;
      isOver.current = true;
      over(terminal.reason ?? '');
    },
    poll() {},
    isOver: () => isOver.current,
  });
  return null;
}
