// Reads a log in pieces: the newest one at once, older ones on request, newer ones while it is followed.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type AgentRole, type SandboxLogPart, type SandboxLogQuery, sandboxLog } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { LogText } from './log-text.ts';

export interface LogKey {
  sandboxId: string;
  role: AgentRole;
  sessionId: string;
  part: SandboxLogPart;
}

/** Maximum number of characters of a log that the page holds. */
const maxHeldCharacters = 128 * 1024 * 1024;
/** Milliseconds after which a followed log is read even if `news` has not changed. */
const followInterval = 2_000;

interface State {
  /** Bytes of the whole log. */
  bytes: number;
  /** When the retention deleted the log. */
  deletedAt: number | null;
  /** Cursor of the piece before the first one read; null means the log was read from its beginning. */
  cursor: string | null;
  isReading: boolean;
  problem: ProblemBody | null;
}

type LogPiece = SandboxLogQuery['sandboxLog'];
const pieceAt = async (key: LogKey, cursor: string | null, after: number | null = null) =>
  (await ask(sandboxLog, { ...key, cursor, after })).sandboxLog;

/** The text of a log that was read, with its state. */
function useLogText(log: LogKey) {
  const text = useRef(new LogText());
  const [state, setState] = useState<State>({
    ...{ bytes: 0, deletedAt: null, cursor: null, isReading: true, problem: null },
  });
  const latest = useRef(state);
  latest.current = state;
  const update = (changes: Partial<State>) => {
    latest.current = { ...latest.current, ...changes };
    setState(latest.current);
  };

  /** Starts over with the newest piece. */
  function begin({ content, bytes, deletedAt, nextCursor, times }: LogPiece): void {
    text.current = new LogText();
    text.current.prepend(content, nextCursor === null, times);
    update({ bytes, deletedAt, cursor: nextCursor, problem: null });
  }

  async function read(cursor: string | null): Promise<void> {
    update({ isReading: true, problem: null });
    try {
      const piece = await pieceAt(log, cursor);
      if (cursor === null) begin(piece);
      else {
        text.current.prepend(piece.content, piece.nextCursor === null, piece.times);
        update({ cursor: piece.nextCursor });
      }
      update({ isReading: false });
    } catch (error) {
      update({ isReading: false, problem: problemOf(error) });
    }
  }
  return { text, state, latest, update, begin, read };
}

/**
 * Reads a log. The calling component needs a separate `key` for each log. If `follows` is true, the log is read again when `news` changes and
 * at intervals. The log is also read again in this way if it is still empty and `canGrow` is true.
 */
export function useLog(log: LogKey, { follows, canGrow, news }: { follows: boolean; canGrow: boolean; news: unknown }) {
  const { text, state, latest, update, begin, read } = useLogText(log);
  const isLeft = useRef(false);
  const wantsAll = useRef(false);
  const canReadOlder = () => latest.current.cursor !== null && text.current.size < maxHeldCharacters;
  async function readOlder(): Promise<void> {
    if (!latest.current.isReading && canReadOlder()) await read(latest.current.cursor);
  }
  async function readAll(): Promise<void> {
    wantsAll.current = true;
    while (wantsAll.current && canReadOlder() && !latest.current.problem && !isLeft.current) await readOlder();
    wantsAll.current = false;
  }

  /** Adds content written since the last read. */
  async function refresh(): Promise<void> {
    const { bytes: known, isReading } = latest.current;
    if (isReading) return;
    try {
      const piece = await pieceAt(log, null, known);
      if (piece.bytes === known || latest.current.bytes !== known) return;
      if (!appendNew(text.current, piece, known)) return begin(piece);
      update({ bytes: piece.bytes, problem: null });
    } catch (error) {
      update({ problem: problemOf(error) });
    }
  }

  useEffect(() => {
    void read(null);
    return () => {
      isLeft.current = true;
    };
  }, []);
  useFollowing(refresh, follows || (canGrow && state.bytes === 0), news);

  return {
    ...state,
    text: text.current,
    /** Whether the page has reached the maximum while older pieces remain. */
    isFull: state.cursor !== null && text.current.size >= maxHeldCharacters,
    isReadingAll: wantsAll.current,
    retry: () => void (text.current.size > 0 ? readOlder() : read(null)),
    readOlder,
    readAll,
    stop: () => {
      wantsAll.current = false;
    },
    readParts: () => readParts(log, latest.current.cursor, text.current.parts()),
  };
}

/**
 * Appends a new piece of the log to the text on the page. `known` is the number of bytes of the log up to the end of that text. Appends nothing
 * and returns false if nothing was read yet, or if the piece does not begin at the end of that text. The piece begins later if more was written
 * since the last read than fits in one piece.
 */
function appendNew(text: LogText, { content, bytes, times }: LogPiece, known: number): boolean {
  if (known === 0 || new TextEncoder().encode(content).length !== bytes - known) return false;
  text.append(content, times);
  return true;
}

/** The whole log in parts: first the older parts, then the parts that the page holds. */
async function readParts(log: LogKey, cursor: string | null, held: string[]): Promise<string[]> {
  const older: string[] = [];
  for (let next = cursor; next; ) {
    const { content, nextCursor } = await pieceAt(log, next);
    older.push(content);
    next = nextCursor;
  }
  return [...older.reverse(), ...held];
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/**
 * Refreshes the log while the page is visible: when `news` changes, or after two seconds. Each refresh is followed by a pause twice as
 * long, so that a busy service gets fewer requests.
 */
function useFollowing(refresh: () => Promise<void>, follows: boolean, news: unknown): void {
  const current = useRef(refresh);
  current.current = refresh;
  const proceed = useRef(() => {});
  useEffect(() => {
    if (!follows) return;
    let [hasNews, isOver, wake] = [false, false, () => {}];
    proceed.current = () => {
      hasNews = true;
      wake();
    };
    const read = async () => {
      while (!isOver) {
        hasNews = false;
        const begun = performance.now();
        if (!document.hidden) await current.current();
        await pause(2 * (performance.now() - begun));
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (!hasNews && !isOver) await Promise.race([woken, pause(followInterval)]);
      }
    };
    void read();
    return () => {
      isOver = true;
      wake();
    };
  }, [follows]);
  useEffect(() => proceed.current(), [news]);
}
