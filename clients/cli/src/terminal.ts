// The client of a terminal: sends each input exactly once and in order, and yields output until the shell has ended.
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError, type Client, type Terminal } from '../../typescript/src/exports.ts';

/** Maximum number of characters of one piece of input, and maximum time between two pieces. */
const [maxPiece, keepAliveMs] = [4_096, 15_000];
export interface Size {
  width: number;
  height: number;
}

export interface RemoteShell {
  write(text: string): void;
  resize(size: Size): void;
  /** Resolves when all input has been sent. */
  sent(): Promise<void>;
}

export function writeTo(client: Client, terminalId: string, signal: AbortSignal): RemoteShell {
  let [waiting, seq] = ['', 0];
  let goOn = () => {};
  let sending: Promise<void> | undefined;

  async function send(): Promise<void> {
    while (waiting && !signal.aborted) {
      const text = waiting.slice(0, maxPiece);
      try {
        await client.writeTerminal({ terminalId, seq, text });
        waiting = waiting.slice(text.length);
        seq++;
      } catch (error) {
        // If the shell has not read its earlier input yet, the error says how long to wait before this input is sent again.
        if (!(error instanceof ApiError) || error.retryAfterMs === null) return;
        await wait(error.retryAfterMs, undefined, { signal }).catch(() => {});
      }
    }
  }
  const begin = () => {
    sending ??= send().finally(() => {
      sending = undefined;
      goOn();
    });
  };
  const keepAlive = setInterval(() => {
    if (!sending) void client.writeTerminal({ terminalId, seq, text: '' }).catch(() => {});
  }, keepAliveMs);
  signal.addEventListener('abort', () => clearInterval(keepAlive));
  return {
    write(text) {
      waiting += text;
      begin();
    },
    resize: (size) => void client.resizeTerminal({ terminalId, ...size }).catch(() => {}),
    async sent() {
      while (sending) await new Promise<void>((resolve) => (goOn = resolve));
    },
  };
}

export interface Listener {
  opened(terminal: Terminal): void;
  output(text: string, isCut: boolean): void;
}

/** Reads the output, over several connections if one ends. @returns the ended terminal */
export async function readFrom(
  client: Client,
  terminalId: string,
  signal: AbortSignal,
  on: Listener,
): Promise<Terminal | null> {
  let [after, isOpen] = [0, false];
  while (!signal.aborted) {
    for await (const update of client.terminalUpdated({ terminalId, after }, { signal })) {
      const { terminal, output, nextOutput, isCut } = update;
      after = nextOutput;
      if (!isOpen && terminal.hasDevice !== null) {
        isOpen = true;
        on.opened(terminal);
      }
      if (output) on.output(output, isCut);
      if (terminal.status === 'ended') return terminal;
    }
  }
  return null;
}
