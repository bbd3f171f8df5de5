// Reads the body of a request that an agent or a mission's runner has sent to this runner.
import type { IncomingMessage } from 'node:http';

/** Maximum number of bytes in the body. The model vendors have the same limit for a model call. */
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
