// Reads the body of a call of an agent.
import type { IncomingMessage } from 'node:http';

/** Maximum bytes of a call, which the model vendors also have. */
const maxCallBytes = 32 * 1024 * 1024;

/** The body of the request. @throws RangeError for more than the largest call */
export async function readBody(from: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of from as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxCallBytes) throw new RangeError(`A call has at most ${maxCallBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
