// Forwards the responses of models to an agent, and limits their size, because a harness may need minutes to process an event of ten
// megabytes. A response that exceeds the limit ends with an error in the vendor's own format.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';

/**
 * Maximum bytes. `event`: for one event, or for a response without a stream. `stream`: for a whole stream. Ordinary responses are ten times
 * smaller.
 */
export const bounds = { event: 4 * 1024 * 1024, stream: 64 * 1024 * 1024 };

export const tooLong = 'The answer of the model exceeds the limit of the runner.';

/** The last events of an aborted stream, by the path of the request. The vendors' clients do not retry after these. */
function lastWords(path: string): string {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
  if (path.endsWith('/responses')) {
    const error = { code: 'invalid_prompt', message: tooLong };
    return `event: response.failed\n${event({ type: 'response.failed', response: { id: 'gateway', status: 'failed', error } })}`;
  }
  const error = { type: 'invalid_request_error', message: tooLong };
  if (path.endsWith('/chat/completions')) return event({ error: { ...error, code: 'answer_too_long' } });
  return `event: error\n${event({ type: 'error', error })}`;
}

/** Passes whole lines through; an overlong line is dropped and ends the stream with an error. */
function boundedStream(path: string): Transform {
  const held: Buffer[] = [];
  let [line, all, isOver] = [0, 0, false];
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      if (isOver) return done();
      const end = bytes.lastIndexOf(10) + 1;
      all += bytes.length;
      line = end > 0 ? bytes.length - end : line + bytes.length;
      if (line > bounds.event || all > bounds.stream) {
        isOver = true;
        // An incomplete event has no data, and is ignored.
        this.push(`\n${lastWords(path)}`);
        this.push(null);
        return done();
      }
      if (end > 0) this.push(Buffer.concat([...held.splice(0), bytes.subarray(0, end)]));
      held.push(bytes.subarray(end));
      done();
    },
    flush(done) {
      done(null, isOver ? undefined : Buffer.concat(held));
    },
  });
}

const ofConnection = ['connection', 'set-cookie', 'content-length', 'transfer-encoding'];

/** Forwards the response, or an error if it is too long. An upstream abort is forwarded. */
export function sendOn(
  answer: IncomingMessage,
  to: ServerResponse,
  path: string,
  refuse: (message: string) => void,
): void {
  const forwardedHeaders = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !ofConnection.includes(name)),
  );
  let isCut = false;
  answer.on('error', () => isCut || to.destroy());
  const cut = () => {
    isCut = true;
    answer.destroy();
  };
  if (/^text\/event-stream/.test(answer.headers['content-type'] ?? '')) {
    to.writeHead(answer.statusCode!, forwardedHeaders);
    const through = boundedStream(path);
    through.pipe(to);
    // The rest of the response is discarded.
    through.once('end', cut);
    answer.pipe(through);
    return;
  }
  const pieces: Buffer[] = [];
  let size = 0;
  answer.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size <= bounds.event) return void pieces.push(bytes);
    cut();
    if (!to.headersSent) refuse(tooLong);
  });
  answer.on('end', () => {
    if (to.headersSent) return;
    to.writeHead(answer.statusCode!, { ...forwardedHeaders, 'content-length': size }).end(Buffer.concat(pieces));
  });
}
