// POST /agent/event/notify receives security events that trusted providers push (RFC 8935). The status 202 means that an event was
// accepted, even if it has no effect. After a 5xx, the provider sends the event again.
import { eventError, VerificationError } from '#domain/identity/agent-identities/id-jag/reasons.ts';
import { receiveSecurityEvent } from '#domain/identity/agent-identities/security-events.ts';
import { answer, answerJson, type Exchange, type Handler, mediaType, readText } from '#foundation/http/http.ts';
import { createEventThrottle } from '#foundation/http/throttle.ts';
import type { Problem } from '#foundation/problem.ts';
import { bytes, rates } from '#limits.ts';
import { framed, type Report } from '../frame.ts';

export function createEvents(report: Report): Handler {
  const throttle = createEventThrottle('events', rates.securityEventsPerMinute);

  async function answerEvent(exchange: Exchange): Promise<void> {
    await throttle.take(exchange.address);
    if (mediaType(exchange) !== 'application/secevent+jwt') {
      return answerError(exchange, 400, 'invalid_request', 'Send the event as application/secevent+jwt.');
    }
    await receiveSecurityEvent((await readText(exchange, bytes.oauthBody)).trim());
    answer(exchange, 202);
  }
  return framed(answerEvent, { report, refuse, refuseOwn });
}

/** Errors have a separate body format here (RFC 8935 §2.3). */
function refuse(exchange: Exchange, { status, body, headers }: Problem): void {
  const err = status < 500 ? 'invalid_request' : 'temporarily_unavailable';
  answerError(exchange, status, err, body.description, headers);
}

function refuseOwn(exchange: Exchange, error: unknown): boolean {
  if (!(error instanceof VerificationError)) return false;
  answerError(exchange, 400, eventError(error), error.message);
  return true;
}

function answerError(exchange: Exchange, status: number, err: string, description: string, headers = {}): void {
  answerJson(exchange, status, { err, description }, { 'content-language': 'en', ...headers });
}
