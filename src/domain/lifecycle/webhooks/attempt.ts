// One attempt to deliver an event: a signed POST over a checked connection, without redirects, with a bounded answer.
import { seconds } from '#foundation/clock.ts';
import { OutboundError, openResponse } from '#foundation/http/outbound.ts';
import { answerBounds } from './bounds.ts';

export interface WebhookAttempt {
  isDelivered: boolean;
  answerStatus: number | null;
  /** The beginning of the receiver's response. */
  answerBody: string | null;
  /** Reason why no response arrived. */
  error: string | null;
  /** Milliseconds that the receiver asks to wait; absent without such a request. */
  retryAfterMs?: number | undefined;
}

/** Status codes with which a receiver asks the sender to pause (Standard Webhooks). */
const throttling = new Set([429, 502, 503, 504]);

export async function attempt(
  url: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  at: number,
): Promise<WebhookAttempt> {
  let answerStatus: number | null = null;
  const signal = AbortSignal.timeout(answerBounds.timeoutMs);
  try {
    const response = await openResponse(url, {
      ...{ method: 'POST', text, signal },
      headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
    });
    answerStatus = response.statusCode!;
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop closes the connection.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= answerBounds.bytes) break;
    }
    const answerBody = Buffer.concat(chunks).subarray(0, answerBounds.bytes).toString('utf8').replaceAll('\0', '');
    const retryAfterMs = throttling.has(answerStatus) ? delayOf(response.headers['retry-after'], at) : undefined;
    return {
      isDelivered: answerStatus >= 200 && answerStatus < 300,
      answerStatus,
      answerBody,
      error: null,
      retryAfterMs,
    };
  } catch (error) {
    if (!(error instanceof OutboundError) && answerStatus === null) throw error;
    return { isDelivered: false, answerStatus, answerBody: null, error: signal.aborted ? tooLate : wordsOf(error) };
  }
}

/** `Retry-After` in milliseconds, as seconds or as a date (RFC 9110 §10.2.3). */
function delayOf(value: string | undefined, at: number): number | undefined {
  if (value === undefined) return undefined;
  const delay = /^\d{1,9}$/.test(value) ? seconds(Number(value)) : Date.parse(value) - at;
  return delay > 0 ? delay : undefined;
}

const tooLate = `There was no complete answer within ${answerBounds.timeoutMs / seconds(1)} seconds.`;

/** The text of an error, without addresses of the internal network. */
function wordsOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown };
  if (typeof code !== 'string')
    return 'The address is not an https address of a public host, or does not answer with HTTP.';
  const subject = /CERT|ISSUER|SIGNED|TLS|SSL/.test(code) ? 'The certificate is not accepted' : 'The connection failed';
  return `${subject}: ${code}.`;
}
