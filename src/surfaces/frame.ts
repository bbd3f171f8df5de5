// The frame around every surface: it identifies the caller, counts the request against the caller's rate, and turns a thrown error into a
// report and a response.
import type { Caller } from '#access/principal.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { answerJson, type Exchange, type Handler, type Headers } from '#foundation/http/http.ts';
import { loadedOnce } from '#foundation/loaded-once.ts';
import { isTooBusy, methodNotAllowed, type Problem, toProblem } from '#foundation/problem.ts';
import { errorsPath } from '#foundation/problem-codes.ts';

/** Records a failure of the service (5xx) with its cause. */
export type Report = (exchange: Exchange, error: unknown) => void;

/** Settings of an API that authenticates its callers. */
export interface CallerSettings {
  /** Identifies the caller by the credential. @throws 401 */
  authenticate(exchange: Exchange): Promise<Caller>;
  /** Counts requests against the caller's rate, or against the rate of its urgent operations. @throws 429 */
  meter(exchange: Exchange, caller: Caller, count: number, isUrgent?: boolean): Promise<void>;
  report: Report;
}

/** An entry to the service, such as REST. A request is handled by the first surface that owns its path. */
export interface Surface {
  name: string;
  owns(path: string, host: string | undefined): boolean;
  handle: Handler;
}

/**
 * The caller of a request. The request counts against the caller's rate.
 * @throws 401, 429
 */
export async function identify({ authenticate, meter }: CallerSettings, exchange: Exchange): Promise<Caller> {
  const caller = await authenticate(exchange);
  await meter(exchange, caller, 1);
  return caller;
}

interface FrameSettings {
  report: Report;
  /** Sends a problem in the surface's format. Default: the `Error` body. */
  refuse?(exchange: Exchange, problem: Problem): void | Promise<void>;
  /** Sends an error of the surface's own protocol; returns false for any other. */
  refuseOwn?(exchange: Exchange, error: unknown): boolean;
}

/** A handler whose errors are sent to the client. Internal errors (5xx) are reported, except a lack of capacity. */
export const framed =
  (handle: Handler, { report, refuse = answerProblem, refuseOwn }: FrameSettings) =>
  async (exchange: Exchange): Promise<void> => {
    try {
      await handle(exchange);
    } catch (error) {
      if (refuseOwn?.(exchange, error)) return;
      const problem = toProblem(error);
      if (problem.status >= 500 && !isTooBusy(problem)) report(exchange, error);
      if (exchange.res.headersSent) exchange.res.destroy();
      else await refuse(exchange, problem);
    }
  };

/**
 * Returns a handler that is opened only when the first request for it arrives. Until then, the process does not load the libraries of the
 * handler.
 */
export function openedWhenUsed(open: () => Promise<Handler>): Handler {
  const opened = loadedOnce(open);
  return async (exchange) => (await opened())(exchange);
}

/**
 * A problem as its `Error` body, or as problem details (RFC 9457) if the client accepts them; never cached. `Link` refers to the
 * explanation of its code (RFC 8288, `help`).
 */
export function answerProblem(exchange: Exchange, problem: Problem, more: Headers = {}): void {
  const { status, body, headers } = problem;
  const { code } = problem.details;
  const help = code && `${addresses().baseHost}${errorsPath}#${code}`;
  const link = help && { link: `<${help}>; rel="help"` };
  const all = { ...link, ...headers, ...more, vary: 'accept', 'cache-control': 'no-store' };
  if (wantsProblemDetails(exchange)) {
    const { title, description, ...data } = problem.details;
    const instance = `urn:request:${encodeURIComponent(exchange.requestId)}`;
    const details = { type: help ?? 'about:blank', title, status, detail: description, instance, ...data };
    answerJson(exchange, status, details, { ...all, 'content-type': problemDetailsType });
  } else answerJson(exchange, status, body, all);
}

export const problemDetailsType = 'application/problem+json';

/** Whether `Accept` includes the media type, with a weight not below the weight of JSON (RFC 9110 §12.5.1). */
function wantsProblemDetails({ req }: Exchange): boolean {
  const weights = new Map<string, number>();
  for (const range of (req.headers.accept ?? '').toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    weights.set(type!, Number(weight));
  }
  const wanted = weights.get(problemDetailsType) ?? 0;
  return (
    wanted > 0 && wanted >= (weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0)
  );
}

/** Checks the method of the request. @throws 405 */
export function allowMethods({ req }: Exchange, ...methods: string[]): void {
  if (!methods.includes(req.method!)) throw methodNotAllowed(methods.join(', '));
}
