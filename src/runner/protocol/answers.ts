// Answers of models on their way to an agent: bounded, since a harness may work for minutes on an event of ten megabytes, and told in
// the form of the vendor's own errors.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';

/** Bytes: of an event or of an answer that does not stream, and of a stream. Ordinary answers have a tenth of it. */
export const bounds = { event: 4 * 1024 * 1024, stream: 64 * 1024 * 1024 };

export const tooLong = 'The answer of the model is longer than the runner lets through.';

/** The last events of a stream that is cut off, by the path of the request. Clients of the vendors do not ask again after these. */
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

/** Lets whole lines through: one that is too long is dropped, and ends the stream with an error. */
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
        // An event that was begun has no data, and is none.
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

/** Sends the answer on; one that is too long as an error. What breaks off upstream breaks off here. */
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
    // Nothing of what is left is waited for.
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
