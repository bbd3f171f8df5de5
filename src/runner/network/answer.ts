// Reads responses of servers that are not trusted: a response may be invalid.
import type { ClientRequest, IncomingMessage } from 'node:http';

/**
 * Calls `take` with the response to a request. If the response has a status that Node.js could not forward without throwing, the request
 * emits an error instead.
 */
export function onAnswer(onward: ClientRequest, take: (answer: IncomingMessage) => void): void {
  const refuse = (why: string) => onward.emit('error', new Error(why));
  onward.on('response', (answer) => {
    if (answer.statusCode! >= 100) return take(answer);
    answer.destroy();
    refuse(`the server sent the invalid status ${answer.statusCode}`);
  });
  // Without a listener for `upgrade` the request would never end.
  onward.on('upgrade', (_, socket) => {
    socket.destroy();
    refuse('the server switched the protocol without being asked');
  });
}
