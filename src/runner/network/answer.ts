// Answers of servers that anybody may have written.
import type { ClientRequest, IncomingMessage } from 'node:http';

/** Takes the answer to a request. An answer that cannot be forwarded, at which Node.js would throw, is an error of the request. */
export function onAnswer(onward: ClientRequest, take: (answer: IncomingMessage) => void): void {
  const refuse = (why: string) => onward.emit('error', new Error(why));
  onward.on('response', (answer) => {
    if (answer.statusCode! >= 100) return take(answer);
    answer.destroy();
    refuse(`its status is ${answer.statusCode}`);
  });
  // Without a listener the request would never end.
  onward.on('upgrade', (_, socket) => {
    socket.destroy();
    refuse('it changed the protocol without being asked');
  });
}
