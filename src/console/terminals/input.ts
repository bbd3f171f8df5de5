// The input and the size of a terminal are sent in order, and each of them only once. During a request, typed characters are joined, and
// only the last size is kept.

import { resizeTerminal, writeTerminal } from '../generated/documents.ts';
import { mutate, problemOf } from '../kit/client.ts';
import type { Size } from './screen.ts';

/**
 * Input is sent in pieces of at most `maxPiece` characters. A piece is also sent every `keepAliveMs`, even without new input, because the
 * service ends a terminal when it has received nothing from the page for a minute.
 */
const [maxPiece, keepAliveMs] = [4_096, 15_000];

/**
 * Opens the input of a terminal. @param opened The size with which the terminal was opened. @param settled Called after
 * each request, with its error if it failed. A failed request is sent again when the person presses the next key, or after a while.
 */
export function openInput(terminalId: string, opened: Size, settled: (error: unknown) => void) {
  let [waiting, seq, isSending, isOver] = ['', 0, false, false];
  /** A piece whose response was lost may have arrived, so it is sent again unchanged. */
  let piece: string | null = null;
  let [sentSize, size] = [opened, opened];
  async function send(): Promise<void> {
    isSending = true;
    try {
      do {
        if (size !== sentSize) {
          const next = size;
          await mutate(resizeTerminal, { terminalId, ...next });
          sentSize = next;
        }
        piece ??= waiting.slice(0, maxPiece);
        if (!(await arrives(piece))) continue;
        waiting = waiting.slice(piece.length);
        if (piece) seq++;
        piece = null;
        settled(null);
      } while ((waiting || size !== sentSize) && !isOver);
    } catch (error) {
      if (!isOver) settled(error);
    } finally {
      isSending = false;
    }
  }
  /**
   * Sends one piece. If the shell has not read its earlier input, waits as long as the service requests, and then returns false.
   */
  async function arrives(text: string): Promise<boolean> {
    try {
      await mutate(writeTerminal, { terminalId, seq, text });
      return true;
    } catch (error) {
      const { retryAfterSeconds } = problemOf(error);
      if (retryAfterSeconds === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1_000));
      return false;
    }
  }
  const keepAlive = setInterval(() => !isSending && void send(), keepAliveMs);
  return {
    write(text: string): void {
      if (isOver) return;
      waiting += text;
      if (!isSending) void send();
    },
    resize(next: Size): void {
      if (isOver || (next.width === size.width && next.height === size.height)) return;
      size = next;
      if (!isSending) void send();
    },
    close(): void {
      isOver = true;
      clearInterval(keepAlive);
    },
  };
}
