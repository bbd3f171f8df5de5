// Reads values that must not be on the command line: from standard input, or from a prompt without echo.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UserError } from './session.ts';

/** All of standard input, without the line end that `echo` and editors add; null for a terminal. */
export const readPiped = async (): Promise<string | null> =>
  process.stdin.isTTY ? null : (await text(process.stdin)).replace(/\r?\n$/, '');

export async function readHidden(label: string): Promise<string> {
  process.stderr.write(`${label}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  return new Promise<string>((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      reject(new UserError('No value was entered. Nothing has changed.'));
    });
  });
}
