// Journal of a mission: log pieces and live fragments, each with its sequence number, and costs. Sent in batches, so that a verbose script
// makes few calls; a script that is faster than the platform has to wait.
import type { Fragment, RunLease, Session } from '../contract.ts';
import { appendFragments, appendLog, reportCost, reportUsage } from '../generated/operations.ts';
import type { Usage } from '../harness/port.ts';
import type { Platform } from './platform.ts';

/**
 * Maximum number of characters in one piece of a log, maximum number of fragments in one call, and highest amount in US dollars that is
 * reported as one cost. The platform accepts 65,536, 50 and 10,000.
 */
const [pieceLength, fragmentsAtOnce, usdAtOnce] = [30_000, 50, 10_000];
/** Maximum number of characters and of fragments in the queue. */
const [enoughText, enoughFragments] = [300_000, 500];

/** Minimum milliseconds between batches, and the number of batches that can be sent at once after a pause. */
const [quickMs, quickBatches] = [50, 40];

/** Splits a text into pieces without cutting characters. */
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
  session: Session & { stepId: string },
  flushEvery: number,
) {
  const { write, sendUsage, sendFragments, sendCost } = openReports(platform, lease, session);
  const text = openText(flushEvery);
  let isClosing = false;
  let fragments: TimedFragment[] = [];
  let usd = 0;
  let usages: Usage[] = [];
  const batches = openBatches(flushEvery, async () => {
    const [log, pendingFragments, used] = [text.take(isClosing), fragments, usages];
    [fragments, usages] = [[], []];
    if (text.length() > 0) batches.schedule(false);
    // Token usage is sent first: of all reports, it matters most if the runner is killed before it has sent the others.
    for (const usage of used) await sendUsage(usage);
    if (log) await write('session', log);
    await sendFragments(pendingFragments);
    while (usd > 0) {
      const some = Math.min(usd, usdAtOnce);
      usd -= some;
      await sendCost(some);
    }
  });

  return {
    write,
    /** Rejects when the platform rejects a batch. */
    broken: batches.broken,
    log(words: string): void {
      if (words !== '') batches.schedule(text.add(words));
    },
    show(fragment: Fragment): void {
      fragments.push({ ...fragment, t: Date.now() });
      batches.schedule();
    },
    cost(some: number): void {
      usd += some;
      batches.schedule();
    },
    usage(one: Usage): void {
      usages.push(one);
      batches.schedule();
    },
    /** Resolves as soon as the queue has room. */
    async room(): Promise<void> {
      if (text.length() >= enoughText || fragments.length >= enoughFragments) await batches.flush();
    },
    /** Sends everything that is queued. */
    async close(): Promise<void> {
      batches.stop();
      isClosing = true;
      await batches.flush();
    },
    /** Stops sending the journal. */
    stop: batches.stop,
  };
}

/** The text of a log that has not been sent yet. */
function openText(waitMs: number) {
  let text = '';
  /** The time at which the unfinished last line began; null when the last line is finished. */
  let unfinishedSince: number | null = null;
  return {
    length: () => text.length,
    /** Adds words to the text. Returns whether the words end with a line break. */
    add(words: string): boolean {
      text += words;
      const isFinished = words.endsWith('\n');
      if (isFinished) unfinishedSince = null;
      else if (unfinishedSince === null || words.includes('\n')) unfinishedSince = performance.now();
      return isFinished;
    },
    /**
     * Takes the text to send now. An unfinished line waits for its end, whatever else is sent meanwhile: a piece that ended within a line
     * could cut a secret in two, which would then not be masked.
     */
    take(isLast: boolean): string {
      const isNew = unfinishedSince !== null && performance.now() - unfinishedSince < waitMs;
      const waits = isNew && !isLast && text.length < enoughText;
      const end = waits ? text.lastIndexOf('\n') + 1 : text.length;
      const taken = text.slice(0, end);
      text = text.slice(end);
      if (!waits) unfinishedSince = null;
      return taken;
    },
  };
}

type TimedFragment = Fragment & { t: number };

/** Reports of a session to the platform, each with the next number of its sequence. */
function openReports(platform: Platform, lease: RunLease, { stepId, ...session }: Session & { stepId: string }) {
  const { sandboxId, leaseId, role, sessionId } = session;
  const next: Record<string, number> = {};
  let [fragmentSeq, costs] = [0, 0];
  return {
    /**
     * Appends text to one of the session's logs.
     * @param span Passed only for a prompt: the id and the source of the prompt span that consists of this text. Every piece of the text is sent with
     * them.
     */
    async write(
      part: 'session' | 'system' | 'prompt',
      words: string,
      span?: { spanId: string; promptScope: string },
    ): Promise<void> {
      // Secrets are masked before the text is split into pieces, because a secret could be split between two pieces.
      for (const content of pieces(platform.mask(words))) {
        const seq = next[part] ?? 0;
        next[part] = seq + 1;
        await platform.mutate(appendLog, { ...session, part, seq, content, ...span });
      }
    },
    async sendUsage(usage: Usage): Promise<void> {
      await platform.mutate(reportUsage, { ...lease, stepId, sandboxId, role, sessionId, ...usage });
    },
    async sendFragments(pending: TimedFragment[]): Promise<void> {
      for (let at = 0; at < pending.length; at += fragmentsAtOnce) {
        const fragments = pending.slice(at, at + fragmentsAtOnce);
        await platform.mutate(appendFragments, { sandboxId, leaseId, seq: fragmentSeq, fragments });
        fragmentSeq += fragments.length;
      }
    },
    async sendCost(usd: number): Promise<void> {
      const costId = `${sandboxId}-${++costs}`;
      await platform.mutate(reportCost, { ...lease, sandboxId, role, sessionId, costId, usd });
    },
  };
}

/**
 * Limits the batches of a session to one per `interval` on average, because a log may have only a limited number of pieces. After a pause,
 * the first batch is sent at once, and up to `quickBatches` more batches follow every `quickMs`.
 */
function openPace(interval: number) {
  let last = Number.NEGATIVE_INFINITY;
  /** The time at which the last batch would have been sent if one batch were sent per `interval`. */
  let spentUntil = 0;
  return {
    delay(): number {
      const now = performance.now();
      return Math.max(0, last + Math.min(quickMs, interval) - now, spentUntil - quickBatches * interval - now);
    },
    count(): void {
      last = performance.now();
      spentUntil = Math.max(spentUntil, last) + interval;
    },
  };
}

/** Sends one batch after the other; entries that arrive while a batch is sent are in the next batch. Stops after a failed batch. */
function openBatches(flushEvery: number, send: () => Promise<void>) {
  let sending: Promise<void> = Promise.resolve();
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => {});
  function flush(): Promise<void> {
    sending = sending.then(send);
    sending.catch(fail);
    return sending;
  }

  const pace = openPace(flushEvery);
  let timer: NodeJS.Timeout | undefined;
  let due = 0;
  let open = true;
  return {
    broken,
    flush,
    /** Schedules a batch: as soon as the pace allows if `isUrgent`, otherwise after `flushEvery`, unless an earlier batch is scheduled. */
    schedule(isUrgent = true): void {
      const at = performance.now() + (isUrgent ? pace.delay() : flushEvery);
      if (!open || (timer && due <= at)) return;
      clearTimeout(timer);
      due = at;
      timer = setTimeout(async () => {
        await sending.catch(() => {});
        timer = undefined;
        if (!open) return;
        pace.count();
        void flush();
      }, at - performance.now());
    },
    stop(): void {
      open = false;
      clearTimeout(timer);
    },
  };
}
