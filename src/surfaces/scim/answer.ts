// Sends SCIM documents with their media type (RFC 7644, section 3.1).
import { answer, type Exchange, type Headers } from '#foundation/http/http.ts';

export const answerScim = (exchange: Exchange, status: number, body: object, headers: Headers = {}): void =>
  answer(exchange, status, JSON.stringify(body), {
    'content-type': 'application/scim+json; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
  });
