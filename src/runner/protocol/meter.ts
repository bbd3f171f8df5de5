// Meters the model calls of a mission: reserves the highest price of each at the platform before it leaves the gateway, and reports its
// tokens when it is answered. A call that exceeds a limit waits here until a person raises the limit.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunLease, Session, Vendor } from '../contract.ts';
import { reportUsage, reserveModelCall } from '../generated/operations.ts';
import type { Json } from '../harness/fragments.ts';
import type { Tokens, Usage } from '../harness/port.ts';
import type { Platform } from './platform.ts';

/** Assumed output tokens of a request without a limit. */
const defaultOutputTokens = 32_000;
const noTokens: Tokens = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

export interface AdmittedCall {
  body: Buffer;
  outputTokens: number;
  /**
   * Reports the answer.
   * @param status The HTTP status; 0 means that there was no answer. Null means the vendor was not asked.
   * @param tokens `refused`: the vendor charges nothing; null means unknown, so the reservation stays.
   */
  end(status: number | null, tokens: Tokens | 'refused' | null): void;
}

interface Call {
  vendor: Vendor;
  model: string;
  callId: string;
}

export type Meter = ReturnType<typeof openMeter>;

/** Reports the calls of a step when they end. */
function openReports(platform: Platform, lease: RunLease) {
  let step: (Session & { stepId: string }) | null = null;
  let told: (usage: Usage) => void = () => {};
  const reports = new Set<Promise<unknown>>();
  return {
    begin(next: Session & { stepId: string }): void {
      step = next;
      told = () => {};
    },
    /** Sets a listener that gets the tokens of each call of the step. */
    follow(listener: (usage: Usage) => void): void {
      told = listener;
    },
    end(call: Call, status: number | null, tokens: Tokens | 'refused' | null): void {
      if (!step || (status === null && !tokens)) return;
      const { stepId, sandboxId, role, sessionId } = step;
      const used = usageOf(call, status, tokens);
      if (tokens && tokens !== 'refused') told(used);
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
 * @param askAgainMs Interval between reservation attempts of a waiting call.
 * @param parked Called when a call begins to wait for a higher limit; returns a function to call at the end of the wait
 */
export function openMeter(platform: Platform, lease: RunLease, askAgainMs: number, parked: () => () => void) {
  const { begin, end, follow, settled } = openReports(platform, lease);
  let isUsed = false;

  return {
    follow,
    settled,
    /** The step to which calls are charged. */
    countFor(next: Session & { stepId: string }): void {
      begin(next);
      isUsed = false;
    },
    /** Whether the step has made a metered call, so that token reports of its harness are ignored. */
    isUsed: () => isUsed,
    /**
     * @param count Counts the tokens of the input exactly; null where the vendor does not.
     * @param left Aborts when the agent disconnects. @throws when the body is not readable, or the platform is unreachable
     */
    async admit(
      vendor: Vendor,
      path: string,
      body: Buffer,
      count: (() => Promise<number>) | null,
      left: AbortSignal,
    ): Promise<AdmittedCall> {
      const request = JSON.parse(body.toString());
      const model = String(request.model ?? '');
      const bound = boundOf(path, request);
      const wanted = Math.max(1, Math.floor(Number(request[bound] ?? defaultOutputTokens)) || 1);
      const callId = randomUUID();
      isUsed = true;
      // A token has at least one byte.
      let inputTokens = body.length;
      let endWait = () => {};
      try {
        for (let isParked = false; ; ) {
          const call = { ...lease, callId, model, inputTokens, outputTokens: wanted };
          const { outputTokens } = await platform.mutate(reserveModelCall, call);
          if (outputTokens > 0) {
            return {
              body: bounded(path, request, bound, outputTokens) ?? body,
              outputTokens,
              end: (status, tokens) => end({ vendor, model, callId }, status, tokens),
            };
          }
          const exact = count && inputTokens === body.length ? await count().catch(() => null) : null;
          if (exact !== null && exact < inputTokens) {
            inputTokens = exact;
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

function usageOf({ vendor, model, callId }: Call, status: number | null, tokens: Tokens | 'refused' | null) {
  const used = tokens && tokens !== 'refused' ? tokens : noTokens;
  const answer = status === null ? null : { vendor, status };
  return { usageId: callId, callId: tokens && callId, model, ...used, answer };
}

/** The request field that limits the output. */
function boundOf(path: string, request: Json): string {
  if (path.endsWith('/responses')) return 'max_output_tokens';
  if (path.endsWith('/chat/completions')) return 'max_tokens' in request ? 'max_tokens' : 'max_completion_tokens';
  return 'max_tokens';
}

/** The request with its output limited and usage reporting enabled; null if it needs no change. */
function bounded(path: string, request: Json, bound: string, outputTokens: number): Buffer | null {
  const changes: Json = {};
  if (request[bound] !== outputTokens) changes[bound] = outputTokens;
  if (path.endsWith('/chat/completions') && request.stream && !request.stream_options?.include_usage)
    changes.stream_options = { ...request.stream_options, include_usage: true };
  const thought = request.thinking?.budget_tokens ?? 0;
  // Anthropic rejects a thinking budget below 1,024 tokens, or as large as the output limit.
  if (thought >= outputTokens)
    changes.thinking =
      outputTokens > 2_048 ? { ...request.thinking, budget_tokens: outputTokens - 1_024 } : { type: 'disabled' };
  return Object.keys(changes).length > 0 ? Buffer.from(JSON.stringify({ ...request, ...changes })) : null;
}
