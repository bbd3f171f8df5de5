// What a mission says, on its way to the platform: log pieces and live fragments, each with its number, in order. They are
// gathered for a moment, so that a chatty script makes few calls.
import type { Platform } from './platform.ts';

export interface Fragment {
  kind: 'thought' | 'action' | 'response' | 'error' | 'plan';
  body?: string;
  action?: string;
  parameter?: string;
  items?: { content: string; status: string }[];
}

export interface Session {
  sandboxId: string;
  leaseId: string;
  role: string;
  sessionId: string;
}

/** Characters of one piece, and fragments of one call: the platform takes 65,536 and 50. */
const [pieceLength, fragmentsAtOnce] = [30_000, 50];

export function openJournal(platform: Platform, session: Session, flushEvery: number) {
  const { role: _, sessionId: __, ...sandbox } = session;
  const next: Record<string, number> = {};
  let text = '';
  let fragments: (Fragment & { t: number })[] = [];
  let fragmentSeq = 0;
  let sending: Promise<void> = Promise.resolve();

  /** Appends to a log at once. A prompt's pieces say which span of it they are. */
  async function write(part: 'session' | 'system' | 'prompt', content: string, spanId?: string): Promise<void> {
    for (let at = 0; at < content.length; at += pieceLength) {
      const seq = next[part] ?? 0;
      next[part] = seq + 1;
      const piece = content.slice(at, at + pieceLength);
      await platform.say('appendLog', { ...session, part, seq, content: piece, spanId }, '{ nextSeq }');
    }
  }

  async function send(): Promise<void> {
    const [log, shown] = [text, fragments];
    [text, fragments] = ['', []];
    if (log) await write('session', log);
    for (let at = 0; at < shown.length; at += fragmentsAtOnce) {
      const some = shown.slice(at, at + fragmentsAtOnce);
      await platform.say('appendFragments', { ...sandbox, seq: fragmentSeq, fragments: some }, '{ nextSeq }');
      fragmentSeq += some.length;
    }
  }

  /** One sending after the other: what comes meanwhile goes with the next. */
  function flush(): Promise<void> {
    sending = sending.then(send);
    return sending;
  }
  // A failure is not lost: the chain stays broken, and `close` throws it.
  const timer = setInterval(() => void flush().catch(() => {}), flushEvery);

  return {
    write,
    /** Text that the script has printed. NUL is no text. */
    log(words: string): void {
      text += words.replaceAll('\0', '\u2400');
    },
    show(fragment: Fragment): void {
      fragments.push({ ...fragment, t: Date.now() });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}
