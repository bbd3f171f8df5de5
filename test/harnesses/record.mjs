// Records the traffic between a driver and its program: node record.mjs FILE PROGRAM ARGUMENT… One entry per line: {in} and {out} are
// lines of standard input and output; for a server {ask: 'POST /session'}, {answer: [status, body]} and {event}.
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createInterface } from 'node:readline';

const [file, program, ...args] = process.argv.slice(2);
writeFileSync(file, '');

/** Shortens long texts and lists. */
const shortened = (value) => {
  if (typeof value === 'string') return value.length > 600 ? `${value.slice(0, 600)}…` : value;
  if (Array.isArray(value)) return value.slice(0, 12).map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one)]));
};
const note = (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);
const line = (text) => {
  try {
    return JSON.stringify(shortened(JSON.parse(text)));
  } catch {
    return text;
  }
};

const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => child.kill(name));
child.on('exit', (code) => process.exit(code ?? 1));
if (args[0] === 'serve') recordServer();
else {
  createInterface({ input: process.stdin })
    .on('line', (text) => {
      note({ in: line(text) });
      child.stdin.write(`${text}\n`);
    })
    .on('close', () => child.stdin.end());
  createInterface({ input: child.stdout }).on('line', (text) => {
    note({ out: line(text) });
    process.stdout.write(`${text}\n`);
  });
}

function recordServer() {
  let at;
  createInterface({ input: child.stdout }).on('line', (text) => {
    at ??= /listening on (\S+)/.exec(text)?.[1];
    if (at) server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
  });
  const server = createServer((from, to) => {
    const where = from.url.replace(/\?.*/, '');
    note({ ask: `${from.method} ${where}` });
    const onward = request(at + from.url, { method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      if (where === '/event') {
        createInterface({ input: answer }).on('line', (text) => {
          if (text.startsWith('data: ')) note({ event: line(text.slice(6)) });
          to.write(`${text}\n`);
        });
        return;
      }
      let body = '';
      answer
        .setEncoding('utf8')
        .on('data', (piece) => (body += piece))
        .on('end', () => {
          note({ answer: [answer.statusCode, line(body)] });
          to.end(body);
        });
    });
    from.pipe(onward.on('error', () => to.destroy()));
  });
}
