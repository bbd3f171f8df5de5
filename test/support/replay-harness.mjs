// Replays a recorded program: node replay.mjs FILE. It prints the recorded output, and waits for the driver's recorded input.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const entries = readFileSync(process.argv[2], 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
let at = 0;

if (entries.some((entry) => 'ask' in entry)) replayServer();
else {
  let given = 0;
  const go = () => {
    for (; at < entries.length; at++) {
      const entry = entries[at];
      if ('out' in entry) process.stdout.write(`${entry.out}\n`);
      else if (given > 0) given--;
      else return;
    }
  };
  createInterface({ input: process.stdin })
    .on('line', () => {
      given++;
      go();
    })
    .on('close', () => process.exit(0));
  go();
}

function replayServer() {
  const asked = [];
  const open = [];
  let events;
  const go = () => {
    for (; at < entries.length; at++) {
      const entry = entries[at];
      if ('event' in entry) events.write(`data: ${entry.event}\n\n`);
      else if ('answer' in entry) open.shift().writeHead(entry.answer[0]).end(entry.answer[1]);
      else {
        const index = asked.findIndex(({ what }) => what === entry.ask);
        if (index < 0) return;
        const [{ response }] = asked.splice(index, 1);
        if (entry.ask === 'GET /event') {
          events = response.writeHead(200, { 'content-type': 'text/event-stream' });
          events.flushHeaders();
        } else open.push(response);
      }
    }
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked.push({ what: `${request.method} ${request.url.replace(/\?.*/, '')}`, response });
      go();
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
}
