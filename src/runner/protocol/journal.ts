// Journal of a mission: log pieces and live fragments, each with its sequence number, and costs. They are sent in batches, so that a
// chatty script makes few calls; one that is faster than the platform waits.
import type { Fragment, RunLease, Session } from '../contract.ts';
import { appendFragments, appendLog, reportCost, reportUsage } from '../generated/operations.ts';
import type { Usage } from '../harness/port.ts';
import type { Platform } from './platform.ts';

/** Characters of one piece, fragments of one call and dollars of one cost: the platform takes 65,536, 50 and 10,000. */
const [pieceLength, fragmentsAtOnce, usdAtOnce] = [30_000, 50, 10_000];
/** Characters and fragments that may wait to be sent. */
const [enoughText, enoughFragments] = [300_000, 500];

/** A text in pieces, none of which ends within a character. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + pieceLength;
    const cut = /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end;
    yield text.slice(at, cut);
    at = cut;
  }
}

export type Journal = ReturnType<typeof openJournal>;

export function openJournal(
  platform: Platform,
  lease: RunLease,
  { stepId, ...session }: Session & { stepId: string },
  flushEvery: number,
) {
  const { sandboxId, leaseId, role, sessionId } = session;
  const next: Record<string, number> = {};
  let text = '';
  let fragments: (Fragment & { t: number })[] = [];
  let usd = 0;
  let usages: Usage[] = [];
  let [fragmentSeq, costs] = [0, 0];
  let sending: Promise<void> = Promise.resolve();

  /** Appends to a log at once. A prompt's pieces say which span of it they are, and whose words. */
  async function write(
    part: 'session' | 'system' | 'prompt',
    words: string,
    span?: { spanId: string; promptScope: string },
  ): Promise<void> {
    for (const content of pieces(words)) {
      const seq = next[part] ?? 0;
      next[part] = seq + 1;
      await platform.mutate(appendLog, { ...session, part, seq, content, ...span });
    }
  }

  async function send(): Promise<void> {
    const [log, pendingFragments, used] = [text, fragments, usages];
    [text, fragments, usages] = ['', [], []];
    // First: what is lost with the runner should not be what was paid for.
    for (const usage of used) {
      await platform.mutate(reportUsage, { ...lease, stepId, sandboxId, role, sessionId, ...usage });
    }
    if (log) await write('session', log);
    for (let at = 0; at < pendingFragments.length; at += fragmentsAtOnce) {
      const some = pendingFragments.slice(at, at + fragmentsAtOnce);
      const input = { sandboxId, leaseId, seq: fragmentSeq, fragments: some };
      await platform.mutate(appendFragments, input);
      fragmentSeq += some.length;
    }
    while (usd > 0) {
      const some = Math.min(usd, usdAtOnce);
      usd -= some;
      const costId = `${sandboxId}-${++costs}`;
      await platform.mutate(reportCost, { ...lease, sandboxId, role, sessionId, costId, usd: some });
    }
  }

  /** One sending after the other: what comes meanwhile goes with the next. One that failed was the last. */
  function flush(): Promise<void> {
    sending = sending.then(send);
    sending.catch(fail);
    return sending;
  }
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => {});

  let timer: NodeJS.Timeout | undefined;
  let open = true;
  function scheduleFlush(): void {
    if (!open) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, flushEvery);
  }
  function stop(): void {
    open = false;
    clearTimeout(timer);
  }

  return {
    write,
    /** Rejects when the platform does not take what is said. */
    broken,
    log(words: string): void {
      text += words;
      scheduleFlush();
    },
    show(fragment: Fragment): void {
      fragments.push({ ...fragment, t: Date.now() });
      scheduleFlush();
    },
    cost(some: number): void {
      usd += some;
      scheduleFlush();
    },
    usage(one: Usage): void {
      usages.push(one);
      scheduleFlush();
    },
    /** Resolves as soon as there is room for more. */
    async room(): Promise<void> {
      if (text.length >= enoughText || fragments.length >= enoughFragments) await flush();
    },
    /** Sends the rest. */
    async close(): Promise<void> {
      stop();
      await flush();
    },
    /** Sends nothing more. */
    stop,
  };
}
