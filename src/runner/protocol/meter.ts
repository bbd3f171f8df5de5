// Meters the model calls of a mission. Before a call leaves the gateway, the meter asks the platform to reserve the highest price that the
// call can have. When the vendor has answered the call, the meter reports the tokens to the platform. A call that exceeds a limit waits
// here until a person raises the limit.
import { createHash, hash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunLease, Session, Vendor } from '../contract.ts';
import { reportUsage, reserveModelCall } from '../generated/operations.ts';
import type { Tokens, Usage } from '../harness/port.ts';
import { readModelRequest } from './model-request.ts';
import type { Platform } from './platform.ts';

const noTokens: Tokens = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

/** Upper bound of the input tokens. It exceeds the number that the vendor has counted, because vendors call that number an estimate. */
const countedBound = (tokens: number): number => Math.ceil(tokens * 1.05) + 100;

export interface AdmittedCall {
  body: Buffer;
  /** The trace context of the call for the vendor; absent when the platform does not trace. */
  traceparent?: string | null;
  outputTokens: number;
  /**
   * Reports the vendor's response to the call.
   * @param status The HTTP status of the response; 0 if the vendor sent no response. It is null if the vendor was not asked, or if the agent
   * disconnected before the response.
   * @param tokens The tokens of the call; `refused` if the vendor charges nothing. If `tokens` is null, it is unknown what the vendor charges,
   * so the reserved price stays reserved.
   * @param responseSha256 The digest of the response body; absent without a response.
   */
  end(status: number | null, tokens: Tokens | 'refused' | null, responseSha256?: string): void;
}

interface Call {
  vendor: Vendor;
  model: string;
  callId: string;
  requestSha256: string;
}

interface Answer {
  status: number | null;
  tokens: Tokens | 'refused' | null;
  responseSha256?: string | undefined;
}

export type Meter = ReturnType<typeof openMeter>;

/** The step to which calls are charged. */
export interface MeteredStep extends Session {
  stepId: string;
  traceparent: string | null;
}

/**
 * The trace context of a call: its span is a child of the span of the step. The platform derives the same span id
 * (docs/own-runtime.md#join-the-trace-of-a-mission).
 */
const contextOfCall = (traceparent: string, callId: string): string =>
  traceparent.replace(/-[0-9a-f]{16}-/, `-${createHash('sha256').update(callId).digest('hex').slice(0, 16)}-`);

/** Reports the calls of a step when they end. */
function openReports(platform: Platform, lease: RunLease) {
  let step: MeteredStep | null = null;
  let notify: (usage: Usage) => void = () => {};
  const reports = new Set<Promise<unknown>>();
  return {
    begin(next: MeteredStep): void {
      step = next;
      notify = () => {};
    },
    traceparentOf: (callId: string) => (step?.traceparent ? contextOfCall(step.traceparent, callId) : null),
    /** Sets a listener that gets the tokens of each call of the step. */
    follow(listener: (usage: Usage) => void): void {
      notify = listener;
    },
    end(call: Call, answer: Answer): void {
      const { status, tokens } = answer;
      if (!step || (status === null && !tokens)) return;
      const { stepId, sandboxId, role, sessionId } = step;
      const used = usageOf(call, answer);
      if (tokens && tokens !== 'refused') notify(used);
      const usage = { ...lease, stepId, sandboxId, role, sessionId, ...used };
      const report = platform.mutate(reportUsage, usage).catch(() => {});
      reports.add(report);
      void report.finally(() => reports.delete(report));
    },
    /** Resolves when all reports have been sent. */
    settled: async () => void (await Promise.all(reports)),
  };
}

/**
 * Opens the meter of a mission. @param askAgainMs Interval between reservation attempts of a waiting call. @param parked Called when a call
 * begins to wait for a higher limit; returns a function to call at the end of the wait
 */
export function openMeter(platform: Platform, lease: RunLease, askAgainMs: number, parked: () => () => void) {
  const { begin, end, follow, settled, traceparentOf } = openReports(platform, lease);
  let isUsed = false;

  return {
    follow,
    settled,
    countFor(next: MeteredStep): void {
      begin(next);
      isUsed = false;
    },
    /** Whether the step has made a metered call, so that token reports of its harness are ignored. */
    isUsed: () => isUsed,
    /**
     * Waits until the price of a call is reserved. @param count Counts the tokens of the input; null if the vendor counts none. @param left
     * Aborts when the agent disconnects. @throws CallRefused, or another error if the body is invalid or the platform is unreachable
     */
    async admit(
      vendor: Vendor,
      path: string,
      body: Buffer,
      count: (() => Promise<number>) | null,
      left: AbortSignal,
    ): Promise<AdmittedCall> {
      const request = readModelRequest(path, body);
      const { model } = request;
      const callId = randomUUID();
      isUsed = true;
      let { inputTokens } = request;
      let endWait = () => {};
      try {
        for (let isParked = false; ; ) {
          const call = { ...lease, callId, model, inputTokens, outputTokens: request.outputTokens };
          const { outputTokens } = await platform.mutate(reserveModelCall, call);
          if (outputTokens > 0) {
            const body = request.bounded(outputTokens);
            const sent = { vendor, model, callId, requestSha256: hash('sha256', body) };
            return {
              body,
              outputTokens,
              traceparent: traceparentOf(callId),
              end: (status, tokens, responseSha256) => end(sent, { status, tokens, responseSha256 }),
            };
          }
          const counted = count && inputTokens === request.inputTokens ? await count().catch(() => null) : null;
          const bound = counted === null ? inputTokens : countedBound(counted);
          if (bound < inputTokens) {
            inputTokens = bound;
            continue;
          }
          if (!isParked) endWait = parked();
          isParked = true;
          await wait(askAgainMs, undefined, { signal: left });
        }
      } finally {
        endWait();
      }
    },
  };
}

function usageOf(
  { vendor, model, callId, requestSha256 }: Call,
  { status, tokens, responseSha256 = undefined }: Answer,
) {
  const used = tokens && tokens !== 'refused' ? tokens : noTokens;
  const answer = status === null ? null : { vendor, status, requestSha256, responseSha256 };
  return { usageId: callId, callId: tokens && callId, model, ...used, answer };
}
