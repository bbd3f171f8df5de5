// A shell in the sandbox of a running mission.
import { useEffect, useRef, useState } from 'preact/hooks';
import { closeTerminal, openTerminal, resizeTerminal, terminalUpdated } from '../generated/documents.ts';
import { mutate, type ProblemBody, problemOf } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { useLive } from '../kit/live.ts';
import { pageAt } from '../kit/page.ts';
import { Card, ErrorNote } from '../kit/pieces.tsx';
import { openInput } from './input.ts';
import { openScreen } from './screen.ts';

export function Terminal({ id: runId }: { id: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [terminalId, setTerminalId] = useState<string | null>(null);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const [screen, setScreen] = useState<ReturnType<typeof openScreen> | null>(null);
  const typed = useRef<(text: string) => void>(() => {});
  useEffect(() => {
    let opened: string | null = null;
    let input: ReturnType<typeof openInput> | null = null;
    const fail = (error: unknown) => setProblem(problemOf(error));
    const own = openScreen(
      place.current!,
      (text) => typed.current(text),
      (size) => opened && void mutate(resizeTerminal, { terminalId: opened, ...size }).catch(() => {}),
    );
    setScreen(own);
    mutate(openTerminal, { runId, ...own.size() }).then(({ openTerminal: { id } }) => {
      opened = id;
      input = openInput(id, fail);
      typed.current = input.write;
      setTerminalId(id);
    }, fail);
    return () => {
      input?.close();
      own.close();
      if (opened) void mutate(closeTerminal, { terminalId: opened }).catch(() => {});
    };
  }, []);
  return (
    <>
      <Heading title="Terminal" above={[[pageAt(`/runs/${runId}`), 'Mission']]} />
      <p class="hint">
        A shell in the sandbox of the mission, beside its agent. What it prints becomes an artifact of the mission, with
        secrets masked.
      </p>
      {problem && <ErrorNote problem={problem} />}
      <Card title="Shell">
        <div class="shell" ref={place} />
      </Card>
      {terminalId && screen && <Output terminalId={terminalId} screen={screen} />}
    </>
  );
}

/** Writes the output to the screen until the shell has ended. */
function Output({ terminalId, screen }: { terminalId: string; screen: ReturnType<typeof openScreen> }) {
  const [after, isOver] = [useRef(0), useRef(false)];
  useLive({
    operation: terminalUpdated,
    variables: { terminalId, after: after.current },
    take({ terminalUpdated: { output, nextOutput, isCut, terminal } }) {
      after.current = nextOutput;
      if (isCut) screen.note('Output is left out: the shell was faster.');
      if (output) screen.write(output);
      if (terminal.status !== 'ended' || isOver.current) return;
      isOver.current = true;
      screen.note(terminal.reason ?? 'The shell has ended.');
    },
    poll() {},
    isOver: () => isOver.current,
  });
  return null;
}
