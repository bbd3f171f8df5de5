// Limits for terminals.
import { days, seconds } from '#foundation/clock.ts';

export const terminalBounds = {
  /** Columns (`width`) and rows (`height`) of a terminal. */
  width: { min: 20, max: 500 },
  height: { min: 5, max: 300 },
  /** Size of a window, in characters; the terminal gets the nearest size. */
  window: { min: 0, max: 65_535 },
  /** Maximum number of characters of one piece of input. */
  input: { max: 4_096 },
  output: { min: 1, max: 65_536 },
  /** Maximum number of pieces of input that the runtime has not read yet. */
  unreadInput: 64,
  /** Maximum number of pieces of output that are kept: a person who is slower than the shell misses earlier pieces. */
  keptOutput: 64,
  /** Maximum number of pieces of output in one event. */
  outputAtOnce: 16,
  /** Maximum number of open terminals of one run. */
  perRun: 4,
  /** Maximum sequence number of a piece. */
  pieces: 2_000_000_000,
  reason: { min: 1, max: 500 },
} as const;

/** Time in which a runtime must start the shell. */
export const openingMs = seconds(30);
/** Time without a connected person after which a terminal ends. */
export const awayMs = seconds(60);
/** Maximum wait for input in one request of a runtime. */
export const inputWaitMs = seconds(10);
/** How long an ended terminal is kept; its recording is an artifact. */
export const keptMs = days(1);
