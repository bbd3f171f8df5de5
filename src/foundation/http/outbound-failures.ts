// Failures of outbound requests: how long an answer asks the sender to wait, and reasons that a tenant may read.
import { seconds } from '../clock.ts';

/** The delay in milliseconds that `Retry-After` asks for; the header contains seconds or a date (RFC 9110 §10.2.3). */
export function delayOf(value: string | undefined, at: number): number | undefined {
  if (value === undefined) return undefined;
  const delay = /^\d{1,9}$/.test(value) ? seconds(Number(value)) : Date.parse(value) - at;
  return delay > 0 ? delay : undefined;
}

export interface AnswerTime {
  /** The signal that aborts the request after this time. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** The reason why a request has no complete answer, without addresses of the internal network. */
export function reasonOf(error: unknown, { signal, timeoutMs }: AnswerTime): string {
  if (signal.aborted) return `There was no complete answer within ${timeoutMs / seconds(1)} seconds.`;
  const { code } = ((error as Error).cause ?? error) as { code?: unknown };
  if (typeof code !== 'string')
    return 'The address is not an https address of a public host, or does not answer with HTTP.';
  const subject = /CERT|ISSUER|SIGN|TLS|SSL/.test(code) ? 'The certificate is not accepted' : 'The connection failed';
  return `${subject}: ${code}.`;
}
