// Terminals of people in the sandbox of a step: the runner starts their shells, reads their input by long polling, sends their output, and
// records it as an artifact. No port is opened for them.
import { setTimeout as wait } from 'node:timers/promises';
import type { RunLease } from '../contract.ts';
import {
  appendTerminalOutput,
  type HeartbeatMutation,
  readTerminal,
  reportTerminalEnd,
} from '../generated/operations.ts';
import type { Shell, ShellListener, Size } from '../isolation/shell.ts';
import { clip } from '../text.ts';
import { type Platform, RequestRejected } from './platform.ts';

type Requested = HeartbeatMutation['answer']['runs'][number]['terminals'][number];
export type OpenShell = (size: Size, on: ShellListener) => Promise<Shell>;

/** Maximum number of characters of one report, of unsent output before the shell is paused, and of a recording. */
const [maxPiece, maxWaiting, maxRecording] = [32_768, 131_072, 4_000_000];
/**
 * Returns the control sequence that announces the size of the terminal. A program that displays the output takes this size for the output
 * after the sequence. A program that does not know the number 7790 of the sequence ignores the sequence.
 */
const sizeSequence = ({ width, height }: Size): string => `\x1b]7790;${width}x${height}\x1b\\`;
/** Time between two reports of output, so that fast output takes few requests. */
const pauseMs = 60;

export type Terminals = ReturnType<typeof openTerminals>;

/** Opens the terminals of a step. @param record Stores the output of a terminal as an artifact. */
export function openTerminals(
  platform: Platform,
  { runId, leaseId }: RunLease,
  openShell: OpenShell,
  record: (name: string, text: string) => Promise<unknown>,
) {
  const open = new Map<string, { end(why: string): void; done: Promise<void> }>();
  let isClosed = false;
  return {
    /** Starts shells for terminals that people have requested; running shells are unchanged. */
    start(requested: readonly Requested[]): void {
      for (const one of requested) {
        if (isClosed || open.has(one.terminalId)) continue;
        const held = { runId, leaseId, terminalId: one.terminalId };
        const terminal = serve(platform, held, one, openShell, record);
        open.set(one.terminalId, terminal);
      }
    },
    /** Ends all shells, and resolves when their output is recorded. */
    async close(why: string): Promise<void> {
      isClosed = true;
      for (const { end } of open.values()) end(why);
      await Promise.all([...open.values()].map(({ done }) => done));
    },
  };
}

interface Held extends RunLease {
  terminalId: string;
}

function serve(
  platform: Platform,
  held: Held,
  { author, ...size }: Requested,
  openShell: OpenShell,
  record: (name: string, text: string) => Promise<unknown>,
) {
  const over = new AbortController();
  let reason = '';
  const end = (why: string) => {
    reason ||= why;
    over.abort();
  };
  const output = openOutput(platform, held, end);
  async function work(): Promise<void> {
    try {
      const shell = await openShell(size, output);
      output.control(shell);
      try {
        await Promise.race([readInput(platform, held, size, shell, output, end), untilAborted(over.signal)]);
      } finally {
        await shell.end();
      }
    } catch (error) {
      end(`The shell cannot be used: ${(error as Error).message}`);
    }
    await output.close();
    const text = output.recorded();
    if (text) await record(`Terminal of ${author}, ${new Date().toISOString()}.log`, text);
    await platform.mutate(reportTerminalEnd, { ...held, reason: clip(reason, 500) || 'The shell has ended.' });
  }
  // If the end of the terminal cannot be reported, the error is ignored, because it must not fail the mission.
  return { end, done: work().catch(() => {}) };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Hands input to the shell until the platform says that the terminal has ended. */
async function readInput(
  platform: Platform,
  held: Held,
  size: Size,
  shell: Shell,
  { output }: Pick<ShellListener, 'output'>,
  end: (why: string) => void,
): Promise<void> {
  let { width, height } = size;
  for (let from = 0; ; ) {
    const { hasDevice } = shell;
    const answer = await platform.mutate(readTerminal, { ...held, from, width, height, hasDevice });
    if (answer.endReason !== null) return end(answer.endReason);
    if (answer.width !== width || answer.height !== height) {
      output(sizeSequence(answer));
      shell.resize(answer);
    }
    ({ width, height } = answer);
    for (const { seq, text } of answer.input) {
      if (seq === from) shell.write(text);
      from = Math.max(from, seq + 1);
    }
  }
}

/** Sends the output of a shell to the platform in order. Pauses the shell while too much of its output waits to be sent. */
function openOutput(platform: Platform, held: Held, end: (why: string) => void) {
  let [waiting, recording, seq, isPaused, isOver] = ['', '', 0, false, false];
  let shell: Shell | undefined;
  let resume = () => {};
  const sending = send();
  sending.catch((error) => {
    isOver = true;
    end(error instanceof RequestRejected ? 'The platform refused the output.' : (error as Error).message);
  });

  async function send(): Promise<void> {
    for (;;) {
      if (!waiting && isOver) return;
      if (!waiting) await new Promise<void>((resolve) => (resume = resolve));
      if (!waiting) continue;
      const content = platform.mask(takePiece());
      if (recording.length < maxRecording) recording += content;
      await platform.mutate(appendTerminalOutput, { ...held, seq: seq++, content });
      if (isPaused && waiting.length < maxPiece) {
        isPaused = false;
        shell?.resume();
      }
      await wait(pauseMs);
    }
  }

  /** A surrogate pair is not split between two reports. */
  function takePiece(): string {
    const at = /[\ud800-\udbff]/.test(waiting[maxPiece - 1] ?? '') ? maxPiece - 1 : maxPiece;
    const piece = waiting.slice(0, at);
    waiting = waiting.slice(at);
    return piece.toWellFormed();
  }

  return {
    control: (started: Shell) => {
      shell = started;
    },
    output(text: string): void {
      if (isOver) return;
      waiting += text;
      if (waiting.length > maxWaiting && !isPaused) {
        isPaused = true;
        shell?.pause();
      }
      resume();
    },
    ended: (how: string) => end(how),
    /** Sends the remaining output, up to the maximum that may wait. */
    async close(): Promise<void> {
      isOver = true;
      resume();
      await sending.catch(() => {});
    },
    recorded(): string {
      const rest = recording.length >= maxRecording ? '\n[The rest of the output is not recorded.]\n' : '';
      return platform.mask(recording) + rest;
    },
  };
}
