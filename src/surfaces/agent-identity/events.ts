// POST /agent/event/notify: security events, pushed by trusted providers (RFC 8935). 202 says that it was understood, not that it
// changed something; a sender repeats what fails on our side.
import { eventError, Refusal } from '#domain/agent-identities/id-jag/reasons.ts';
import { receiveSecurityEvent } from '#domain/agent-identities/security-events.ts';
import { answer, answerJson, type Exchange, mediaType, readText } from '#foundation/http.ts';
import { toProblem } from '#foundation/problem.ts';
import { createThrottle } from '#foundation/throttle.ts';
import { bytes, rates } from '#limits.ts';
import type { Report } from './failures.ts';

export function createEvents(report: Report) {
  const throttle = createThrottle('events', rates.securityEventsPerMinute, 60, 'Too many events came from here.');

  async function answerEvent(exchange: Exchange): Promise<void> {
    await throttle.take(exchange.address);
    if (mediaType(exchange) !== 'application/secevent+jwt') {
      return refuse(exchange, 400, 'invalid_request', 'Send the event as application/secevent+jwt.');
    }
    await receiveSecurityEvent((await readText(exchange, bytes.oauthBody)).trim());
    answer(exchange, 202);
  }

  /** Failures have a body of their own here (RFC 8935 §2.3). */
  return async (exchange: Exchange): Promise<void> => {
    try {
      await answerEvent(exchange);
    } catch (error) {
      if (error instanceof Refusal) return refuse(exchange, 400, eventError(error), error.message);
      const { status, body, headers } = toProblem(error);
      if (status >= 500) report(exchange, error);
      refuse(exchange, status, status < 500 ? 'invalid_request' : 'temporarily_unavailable', body.description, headers);
    }
  };
}

function refuse(exchange: Exchange, status: number, err: string, description: string, headers = {}): void {
  answerJson(exchange, status, { err, description }, { 'content-language': 'en', ...headers });
}
