// Streams the output of a terminal to the person who opened it.
import type { Caller } from '#access/principal.ts';
import { terminalBounds } from './bounds.ts';
import { findTerminal } from './operations.ts';
import { outputFrom } from './pieces.ts';
import type { TerminalState } from './state.ts';

export interface TerminalUpdate {
  terminal: TerminalState;
  output: string;
  /** Sequence number of the next piece. */
  nextOutput: number;
  /** Whether earlier output was dropped, because the person was slower than the shell. */
  isCut: boolean;
}

/**
 * Yields the output of the terminal. The first piece is the piece with the sequence number `after`. Each later addition is yielded too, until
 * the terminal has ended and all output was sent.
 */
export async function* followTerminal(
  changes: AsyncIterable<() => Promise<Caller>>,
  terminalId: string,
  after: number,
): AsyncGenerator<TerminalUpdate> {
  let nextOutput = after;
  for await (const currentCaller of changes) {
    let more: boolean;
    do {
      // The record of the terminal is read before the output. If this record says that the terminal has ended, the output that is read
      // afterwards is complete.
      const terminal = await findTerminal(await currentCaller(), terminalId);
      const pieces = await outputFrom(terminalId, nextOutput);
      const isCut = pieces.length > 0 && pieces[0]!.seq > nextOutput;
      nextOutput = (pieces.at(-1)?.seq ?? nextOutput - 1) + 1;
      more = pieces.length === terminalBounds.outputAtOnce;
      yield { terminal, output: pieces.map(({ content }) => content).join(''), nextOutput, isCut };
      if (!more && terminal.status === 'ended') return;
    } while (more);
  }
}
