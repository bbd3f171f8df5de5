// Reads the body of a call of an agent.
import type { IncomingMessage } from 'node:http';

/** Maximum bytes of a call, the same as at the model vendors. */
const maxCallBytes = 32 * 1024 * 1024;

/** The body of the request. @throws RangeError for a body above the size limit */
export async function readBody(from: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of from as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxCallBytes) throw new RangeError(`A call can have at most ${maxCallBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
