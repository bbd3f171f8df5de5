// One attempt to deliver an event: a signed POST to a checked host, without following redirects; only a limited part of the response is
// read.
import { OutboundError, openResponse } from '#foundation/http/outbound.ts';
import { delayOf, reasonOf } from '#foundation/http/outbound-failures.ts';
import { answerBounds } from './bounds.ts';

export interface WebhookAttempt {
  isDelivered: boolean;
  answerStatus: number | null;
  /** The beginning of the receiver's response. */
  answerBody: string | null;
  /** The reason why no response arrived. */
  error: string | null;
  /** Milliseconds that the receiver asks the sender to wait; absent if it does not ask. */
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
    // A `break` ends the iteration over the response, which closes the connection.
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
    const reason = reasonOf(error, { signal, timeoutMs: answerBounds.timeoutMs });
    return { isDelivered: false, answerStatus, answerBody: null, error: reason };
  }
}
